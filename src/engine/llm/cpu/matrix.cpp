#include "engine/llm/cpu/matrix.h"

#include <algorithm>

#include "common/base/check.h"
#include "engine/gguf/dequantize.h"
#include "engine/kernels/reference/dot.h"

namespace weft::llm {
namespace {

// The largest matrix that is kept as f32, which takes 4 MiB. Models whose matrices are this small
// fit into memory as f32, and are several times faster that way.
constexpr std::uint64_t floats_max = 1u << 20;

}  // namespace

Result<Matrix> Matrix::load(const gguf::Source& source, const gguf::Tensor& tensor) {
  Matrix out;
  out.type_ = tensor.type;
  out.columns_ = tensor.dimensions[0];
  out.rows_ = tensor.rows();
  out.row_bytes_ = tensor.row_bytes();
  if (tensor.elements() <= floats_max) {
    WEFT_ASSIGN(out.floats_, read_floats(source, tensor));
    return out;
  }
  if (const auto view = source.view(tensor.offset, tensor.bytes)) {
    out.bytes_ = *view;
  } else {
    out.copy_.resize(tensor.bytes);
    WEFT_OK(source.read(tensor.offset, out.copy_));
    // The span stays valid if `out` is moved, because a moved vector keeps its memory.
    out.bytes_ = out.copy_;
  }
  return out;
}

std::span<const float> Matrix::row_in(std::size_t index, std::span<float> scratch) const {
  if (!floats_.empty()) return std::span(floats_).subspan(index * columns_, columns_);
  row(index, scratch);
  return scratch;
}

void Matrix::row(std::size_t index, std::span<float> out) const {
  if (!floats_.empty()) {
    std::ranges::copy(std::span(floats_).subspan(index * columns_, columns_), out.begin());
    return;
  }
  const auto done = gguf::dequantize(type_, bytes_.subspan(index * row_bytes_, row_bytes_), out);
  check(done.has_value(), "read_model() admits only formats and rows that dequantize() takes");
}

void Matrix::multiply_rows(std::size_t first, std::size_t rows, std::span<const float> x,
                           std::span<float> out, Workers& workers) const {
  const std::size_t count = x.size() / columns_;
  check(x.size() == count * columns_ && out.size() == count * rows && first + rows <= rows_,
        "a matrix is multiplied with whole vectors");
  const Workers::Work work = [&](std::size_t begin, std::size_t end) {
    std::vector<float> scratch(columns_);
    for (std::size_t r = begin; r < end; ++r) {
      const std::span<const float> weights = row_in(first + r, scratch);
      for (std::size_t i = 0; i < count; ++i)
        out[i * rows + r] = kernels::reference::dot(weights, x.subspan(i * columns_, columns_));
    }
  };
  // A small product runs on the caller's thread, because waking threads costs about as much as
  // 200,000 multiplications.
  if (rows * columns_ * (floats_.empty() ? count + 8 : count) < 200'000) return work(0, rows);
  workers.share(rows, work);
}

}  // namespace weft::llm
