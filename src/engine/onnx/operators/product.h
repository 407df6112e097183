// Matrix products: how shapes fit. Used on the processor and on a GPU.
#pragma once

#include <functional>

#include "engine/onnx/operators/call.h"

namespace weft::onnx {

// numpy's matmul: [...][rows][depth] x [...][depth][columns].
struct ProductPlan {
  Shape batch;      // Broadcast from both.
  Shape a_strides;  // Per dimension of `batch`, in matrices.
  Shape b_strides;
  std::int64_t rows = 0;
  std::int64_t depth = 0;
  std::int64_t columns = 0;
  Shape output;
};
[[nodiscard]] Result<ProductPlan> plan_product(const Call& call, const Shape& a, const Shape& b);

// y = alpha * A * B + beta * C.
struct GemmPlan {
  bool transpose_a = false;
  bool transpose_b = false;
  std::int64_t rows = 0;
  std::int64_t depth = 0;
  std::int64_t columns = 0;
  float alpha = 1;
  float beta = 1;
};
[[nodiscard]] Result<GemmPlan> plan_gemm(const Call& call);

// out[rows][columns] += a[rows][depth] * b[depth][columns].
void add_product(std::int64_t rows, std::int64_t depth, std::int64_t columns, const float* a,
                 const float* b, float* out);
void add_product(std::int64_t rows, std::int64_t depth, std::int64_t columns, const std::int32_t* a,
                 const std::int32_t* b, std::int32_t* out);

// All matrices of a batch: use(a's matrix, b's matrix, out's matrix), counted in matrices.
void each_matrix(const ProductPlan& plan,
                 const std::function<void(std::int64_t, std::int64_t, std::int64_t)>& use);

}  // namespace weft::onnx
