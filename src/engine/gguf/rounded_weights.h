// Presents a file with F16, BF16 or F32 matrices as the same model in Q8_0. Each matrix is rounded
// while it is read, so that no second copy of the file is kept.
//
//   WEFT_ASSIGN(const RoundedFile rounded, rounded_file(file));
//   const RoundedSource from(rounded, *source);
//   llm::read_model(rounded.file), and an engine of it that reads `from`
//
// The rule is that of llama.cpp's `llama-quantize ... Q8_0`: matrices (two dimensions or more) with
// rows of a multiple of 32 become blocks of 32 numbers, with the scale d = max|x| / 127, stored as
// f16, and the quants round(x / d). Norms, biases, routers of experts, the convolutions of state
// spaces and matrices of other formats stay as they are.
//
// Threading: as that of the file's source. Errors: those of the source.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>

#include "common/base/result.h"
#include "engine/gguf/file.h"
#include "engine/gguf/source.h"

namespace weft::gguf {

// True if the format Q8_0 rounds the tensor.
[[nodiscard]] bool is_rounded_to_q8_0(const Tensor& tensor);

// The blocks of numbers in rows of a multiple of 32, which must be whole blocks. `out` has 34 bytes
// for each 32 numbers.
void round_to_q8_0(std::span<const float> values, std::span<std::uint8_t> out);

struct RoundedFile {
  File file;  // Tensors have new formats and offsets; metadata is that of the original.
  // The tensors of the original by their offsets in `file`.
  std::map<std::uint64_t, Tensor> originals;
};
// Fails with unsupported if no tensor of the file is rounded, because both would be the same model.
[[nodiscard]] Result<RoundedFile> rounded_file(const File& file);

// The bytes of `rounded`, read from the original file's source. Both must outlive this object.
class RoundedSource final : public Source {
 public:
  RoundedSource(const RoundedFile& rounded, const Source& original)
      : rounded_(rounded), original_(original) {}

  [[nodiscard]] std::uint64_t bytes() const override { return rounded_.file.file_bytes; }
  [[nodiscard]] Result<> read(std::uint64_t offset, std::span<std::uint8_t> out) const override;
  // Tensors that are rounded are never in memory.
  [[nodiscard]] std::optional<ByteSpan> view(std::uint64_t offset,
                                             std::uint64_t bytes) const override;

 private:
  struct Place;
  [[nodiscard]] std::optional<Place> place(std::uint64_t offset, std::uint64_t bytes) const;

  const RoundedFile& rounded_;
  const Source& original_;
};

}  // namespace weft::gguf
