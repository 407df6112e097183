// Kernels changed for how values lie in memory: floats in 16 bits that are computed with in 32, and
// images that stand apart.
#pragma once

#include <map>

#include "engine/onnx/gpu/schedule.h"

namespace weft::onnx {

// The largest number that 16 bits store. What is larger is stored as this, on the device and here.
inline constexpr float half_max = 65504.0f;

// Elements as they lie in a buffer of 16-bit floats, two to a word; an odd one's partner is zero.
// nullopt if there is a number that 16 bits do not hold: an infinity, or one over half_max.
[[nodiscard]] std::optional<std::vector<std::uint32_t>> halves_of(
    std::span<const std::uint32_t> floats);
// The same for values that a run computed: numbers over half_max become half_max.
[[nodiscard]] std::vector<std::uint32_t> bounded_halves_of(std::span<const std::uint32_t> floats);
// The reverse, as words of f32; `words` hold at least `count` elements.
[[nodiscard]] std::vector<std::uint32_t> floats_of(std::span<const std::uint32_t> words,
                                                   std::size_t count);

// Changes kernels that store each float in four bytes, and images one behind the other. Keeps one
// copy of data that several kernels read.
class StoredKernels {
 public:
  // By ValueId: the values whose buffers hold 16-bit floats, and where images stand apart, as
  // Schedule has them. All of them outlive this.
  StoredKernels(const std::vector<bool>& half, const std::vector<Apart>& apart,
                const std::vector<std::uint64_t>& offset_of)
      : half_(half), apart_(apart), offset_of_(offset_of) {}
  // A kernel then reads such values, and floats that were made for it, as f16 and widens them; it
  // rounds what it writes to them. What it computes with, and in which order, stays.
  void change(Kernel& kernel);

 private:
  using Words = std::shared_ptr<const std::vector<std::uint32_t>>;
  bool narrow_data(KernelInput& input, std::string& wgsl, const std::string& name);
  const std::vector<bool>& half_;
  const std::vector<Apart>& apart_;
  const std::vector<std::uint64_t>& offset_of_;
  std::map<Words, Words> data_;  // Null where 16 bits do not hold it.
};

}  // namespace weft::onnx
