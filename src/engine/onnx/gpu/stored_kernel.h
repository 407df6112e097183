// Adapts kernels to how values are stored in memory: floats stored in 16 bits and computed in 32
// bits, and images that are not contiguous.
#pragma once

#include <map>

#include "engine/onnx/gpu/schedule.h"

namespace weft::onnx {

// The largest number that a 16-bit float stores. Larger numbers are stored as this one, by kernels
// and on the processor.
inline constexpr float half_max = 65504.0f;

// Converts f32 words to 16-bit floats, two to a word; the last word of an odd count is filled with
// zero. Returns nullopt if 16 bits cannot hold a number: an infinity, or a number over half_max.
[[nodiscard]] std::optional<std::vector<std::uint32_t>> halves_of(
    std::span<const std::uint32_t> floats);
// Converts f32 words that a run computed to 16-bit floats, two to a word; numbers over half_max
// become half_max.
[[nodiscard]] std::vector<std::uint32_t> bounded_halves_of(std::span<const std::uint32_t> floats);
// Converts 16-bit floats, two to a word, to words of f32. `words` holds at least `count` elements.
[[nodiscard]] std::vector<std::uint32_t> floats_of(std::span<const std::uint32_t> words,
                                                   std::size_t count);

// Changes kernels that expect each float in four bytes and contiguous images. Kernels that read the
// same constant data share one converted copy of the data.
class StoredKernels {
 public:
  // The arguments are those of Schedule, by ValueId: the values whose buffers hold 16-bit floats,
  // the layout of images, and the offsets of values. They outlive this object.
  StoredKernels(const std::vector<bool>& half, const std::vector<Apart>& apart,
                const std::vector<std::uint64_t>& offset_of)
      : half_(half), apart_(apart), offset_of_(offset_of) {}
  // Changes a kernel so that it reads 16-bit floats, which are widened when they are read, for
  // values that are stored as f16 and for float data that was made for the kernel. The kernel
  // rounds its results to f16 when it stores them. The arithmetic and its order stay the same.
  void change(Kernel& kernel);

 private:
  using Words = std::shared_ptr<const std::vector<std::uint32_t>>;
  bool narrow_data(KernelInput& input, std::string& wgsl, const std::string& name);
  const std::vector<bool>& half_;
  const std::vector<Apart>& apart_;
  const std::vector<std::uint64_t>& offset_of_;
  std::map<Words, Words> data_;  // Null for data that 16 bits cannot hold.
};

}  // namespace weft::onnx
