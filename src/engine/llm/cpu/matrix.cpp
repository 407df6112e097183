#include "engine/llm/cpu/matrix.h"

#include "common/base/check.h"
#include "engine/gguf/dequantize.h"
#include "engine/kernels/reference/dot.h"

namespace weft::llm {

Result<Matrix> Matrix::load(const gguf::Source& source, const gguf::Tensor& tensor) {
  Matrix out;
  out.type_ = tensor.type;
  out.columns_ = tensor.dimensions[0];
  out.rows_ = tensor.rows();
  out.row_bytes_ = tensor.row_bytes();
  if (const auto view = source.view(tensor.offset, tensor.bytes)) {
    out.bytes_ = *view;
  } else {
    out.copy_.resize(tensor.bytes);
    WEFT_OK(source.read(tensor.offset, out.copy_));
    out.bytes_ = out.copy_;  // Moving the vector keeps its memory.
  }
  return out;
}

void Matrix::row(std::size_t index, std::span<float> out) const {
  const auto done = gguf::dequantize(type_, bytes_.subspan(index * row_bytes_, row_bytes_), out);
  check(done.has_value(), "read_model() admits only formats and rows that dequantize() takes");
}

void Matrix::multiply(std::span<const float> x, std::span<float> out, Workers& workers) const {
  const std::size_t count = x.size() / columns_;
  check(x.size() == count * columns_ && out.size() == count * rows_, "a matrix is multiplied with whole vectors");
  const Workers::Work work = [&](std::size_t begin, std::size_t end) {
    std::vector<float> weights(columns_);
    for (std::size_t r = begin; r < end; ++r) {
      row(r, weights);
      for (std::size_t i = 0; i < count; ++i) out[i * rows_ + r] = kernels::reference::dot(weights, x.subspan(i * columns_, columns_));
    }
  };
  // Waking threads costs about what 100,000 products do.
  if (rows_ * columns_ * (count + 2) < 100'000) return work(0, rows_);
  workers.share(rows_, work);
}

}  // namespace weft::llm
