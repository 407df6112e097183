// A weight that is multiplied with f32. As it lies in the file, its rows dequantized as they are
// met, or dequantized at once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/result.h"
#include "engine/gguf/source.h"
#include "engine/llm/cpu/workers.h"
#include "engine/llm/models/model.h"

namespace weft::llm {

class Matrix {
 public:
  Matrix() = default;
  Matrix(Matrix&&) = default;
  Matrix& operator=(Matrix&&) = default;
  // Small ones become f32 at once; others refer to the source's memory where it is mapped, else are
  // copied. The tensor and the source outlive this.
  [[nodiscard]] static Result<Matrix> load(const gguf::Source& source, const gguf::Tensor& tensor);

  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] std::size_t columns() const { return columns_; }
  // One row as f32; out has columns() elements.
  void row(std::size_t index, std::span<float> out) const;
  // The same without a copy where there are floats; `scratch` has columns() elements.
  [[nodiscard]] std::span<const float> row_in(std::size_t index, std::span<float> scratch) const;
  // out[i * rows() + row] = row . x[i * columns() ...], for all x.
  void multiply(std::span<const float> x, std::span<float> out, Workers& workers) const {
    multiply_rows(0, rows_, x, out, workers);
  }
  // The same with the matrix that `count` rows from `first` on are.
  void multiply_rows(std::size_t first, std::size_t count, std::span<const float> x,
                     std::span<float> out, Workers& workers) const;

 private:
  gguf::TensorType type_ = gguf::TensorType::f32;
  std::size_t rows_ = 0, columns_ = 0, row_bytes_ = 0;
  std::vector<float> floats_;  // Where it was small.
  ByteVector copy_;
  ByteSpan bytes_;
};

}  // namespace weft::llm
