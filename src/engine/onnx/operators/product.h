// Computes how the shapes of matrix products fit together. Used by the processor and by GPU
// kernels.
#pragma once

#include <functional>

#include "engine/onnx/operators/call.h"

namespace weft::onnx {

// A product as numpy's matmul defines it: [...][rows][depth] x [...][depth][columns].
struct ProductPlan {
  Shape batch;      // Broadcast from the batches of both operands.
  Shape a_strides;  // A stride for each dimension of `batch`, in matrices.
  Shape b_strides;
  std::int64_t rows = 0;
  std::int64_t depth = 0;
  std::int64_t columns = 0;
  Shape output;
};
[[nodiscard]] Result<ProductPlan> plan_product(const Call& call, const Shape& a, const Shape& b);

// The product of a Gemm node: y = alpha * A * B + beta * C.
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

// Computes out[rows][columns] += a[rows][depth] * b[depth][columns].
void add_product(std::int64_t rows, std::int64_t depth, std::int64_t columns, const float* a,
                 const float* b, float* out);
void add_product(std::int64_t rows, std::int64_t depth, std::int64_t columns, const std::int32_t* a,
                 const std::int32_t* b, std::int32_t* out);

// Calls use(index in a, index in b, index in out) for each product of a batch; the indices count
// whole matrices.
void each_matrix(const ProductPlan& plan,
                 const std::function<void(std::int64_t, std::int64_t, std::int64_t)>& use);

}  // namespace weft::onnx
