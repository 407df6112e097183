// A weight matrix that is multiplied with f32 vectors. The weights are kept in the file's format
// and dequantized row by row, or all of them are dequantized when the matrix is loaded.
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
  // Loads a matrix. A small one becomes f32 at once; a larger one refers to the source's memory if
  // that is mapped, and is copied otherwise. The tensor and the source outlive this object.
  [[nodiscard]] static Result<Matrix> load(const gguf::Source& source, const gguf::Tensor& tensor);

  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] std::size_t columns() const { return columns_; }
  // Writes one row as f32 to `out`, which has columns() elements.
  void row(std::size_t index, std::span<float> out) const;
  // Returns one row as f32. If the matrix is kept as floats, the row is not copied; otherwise it is
  // in `scratch`, which has columns() elements.
  [[nodiscard]] std::span<const float> row_in(std::size_t index, std::span<float> scratch) const;
  // Multiplies all vectors of x: out[i * rows() + row] = row . x[i * columns() ...].
  void multiply(std::span<const float> x, std::span<float> out, Workers& workers) const {
    multiply_rows(0, rows_, x, out, workers);
  }
  // Multiplies all vectors of x with the matrix of rows [first, first + count).
  void multiply_rows(std::size_t first, std::size_t count, std::span<const float> x,
                     std::span<float> out, Workers& workers) const;

 private:
  gguf::TensorType type_ = gguf::TensorType::f32;
  std::size_t rows_ = 0, columns_ = 0, row_bytes_ = 0;
  std::vector<float> floats_;  // The values as f32 if the matrix is small, else empty.
  ByteVector copy_;
  ByteSpan bytes_;
};

}  // namespace weft::llm
