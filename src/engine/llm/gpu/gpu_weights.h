// Weights on the device: matrices in the kernels' formats, several tensors below one another, and
// vectors of f32.
//
// A matrix that is larger than what one binding may see lies in several parts, each of whole rows.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "engine/gguf/source.h"
#include "engine/gpu/device.h"
#include "engine/gpu/upload.h"
#include "engine/kernels/weights.h"
#include "engine/llm/models/model.h"

namespace weft::llm {

struct MatrixPart {
  std::uint32_t first_row = 0;
  std::uint32_t rows = 0;
  gpu::Buffer quants;
  gpu::Buffer scales;  // None for floats.

  [[nodiscard]] const gpu::Buffer& bound_scales() const { return scales ? scales : quants; }
};

struct GpuMatrix {
  kernels::WeightFormat format = kernels::WeightFormat::f32;
  std::uint32_t rows = 0;
  std::uint32_t columns = 0;
  std::vector<MatrixPart> parts;

  [[nodiscard]] std::uint64_t bytes() const;
};

class WeightLoader {
 public:
  // The source outlives the loader; `on_bytes` hears of every piece that went to the device.
  WeightLoader(gpu::Device& device, const gguf::Source& source,
               std::function<void(std::uint64_t bytes)> on_bytes)
      : device_(device), source_(source), uploader_(device), on_bytes_(std::move(on_bytes)) {}

  // Tensors of one format and width, one below the other.
  [[nodiscard]] Async<Result<GpuMatrix>> matrix(std::vector<Weight> tensors);
  // The same for any tensors of one width: neighbours of one format share a matrix.
  [[nodiscard]] Async<Result<std::vector<GpuMatrix>>> matrices(std::vector<Weight> tensors);
  [[nodiscard]] Async<Result<gpu::Buffer>> vector(const gguf::Tensor& tensor);
  [[nodiscard]] Async<Result<gpu::Buffer>> vector(std::vector<float> values);
  // All of it is there.
  [[nodiscard]] Async<Result<>> finish() { return uploader_.finish(); }

 private:
  [[nodiscard]] Async<Result<>> upload_rows(const gguf::Tensor& tensor, std::uint32_t first,
                                            std::uint32_t count, const MatrixPart& part,
                                            std::uint32_t to_row);

  gpu::Device& device_;
  const gguf::Source& source_;
  gpu::Uploader uploader_;
  std::function<void(std::uint64_t bytes)> on_bytes_;
};

// How many rows and columns a tensor's matrix has.
[[nodiscard]] std::uint32_t matrix_rows(const gguf::Tensor& tensor);
[[nodiscard]] std::uint32_t matrix_columns(const gguf::Tensor& tensor);

}  // namespace weft::llm
