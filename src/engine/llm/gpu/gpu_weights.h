// Weights on the device: matrices in the kernels' formats, and vectors of f32. A matrix may consist
// of several tensors that are stored one after another.
//
// A matrix that is larger than one binding is divided into several parts of whole rows.
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
  gpu::Buffer scales;  // Empty if the weights have a float format.

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
  // The source outlives the loader. `on_bytes` is called after every piece that is sent to the
  // device.
  WeightLoader(gpu::Device& device, const gguf::Source& source,
               std::function<void(std::uint64_t bytes)> on_bytes)
      : device_(device), source_(source), uploader_(device), on_bytes_(std::move(on_bytes)) {}

  // Loads tensors of one format and width as one matrix, in which their rows follow each other.
  [[nodiscard]] Async<Result<GpuMatrix>> matrix(std::vector<Weight> tensors);
  // Loads tensors of one width as matrices; neighbouring tensors of one format share a matrix.
  [[nodiscard]] Async<Result<std::vector<GpuMatrix>>> matrices(std::vector<Weight> tensors);
  [[nodiscard]] Async<Result<gpu::Buffer>> vector(const gguf::Tensor& tensor);
  [[nodiscard]] Async<Result<gpu::Buffer>> vector(std::vector<float> values);
  // Waits until all loaded weights are on the device.
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

// The number of rows and of columns of the tensor as a matrix.
[[nodiscard]] std::uint32_t matrix_rows(const gguf::Tensor& tensor);
[[nodiscard]] std::uint32_t matrix_columns(const gguf::Tensor& tensor);

}  // namespace weft::llm
