#include "engine/onnx/operators/product.h"

#include <algorithm>

#include "engine/onnx/operators/operator.h"
#include "engine/onnx/operators/walk.h"
#include "engine/onnx/operators/widen.h"

namespace weft::onnx {
namespace {

template <class T>
void multiply_rows(std::int64_t rows, std::int64_t depth, std::int64_t columns, const T* a,
                   const T* b, T* out) {
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t k = 0; k < depth; ++k) {
      const T factor = a[i * depth + k];
      const T* row = b + k * columns;
      T* to = out + i * columns;
      for (std::int64_t j = 0; j < columns; ++j) to[j] += factor * row[j];
    }
}

Shape matrix_shape(const Shape& shape, bool left) {
  if (shape.size() != 1) return shape;
  return left ? Shape{1, shape[0]} : Shape{shape[0], 1};
}

Result<> run_matmul(Call& call) {
  const Tensor &a = call.input(0), &b = call.input(1);
  if (a.type() == ElementType::boolean) return call.bad_type(0);
  if (b.type() != a.type()) return call.bad_type(1);
  WEFT_ASSIGN(const ProductPlan plan, plan_product(call, a.shape(), b.shape()));
  WEFT_ASSIGN(Tensor * out, call.make(0, a.type(), plan.output));
  if (call.shapes_only()) return {};
  if (is_float(a.type())) {
    const std::vector<float> left = floats_of(a), right = floats_of(b);
    std::vector<float> sums(static_cast<std::size_t>(out->count()));
    each_matrix(plan, [&](std::int64_t i, std::int64_t j, std::int64_t o) {
      add_product(plan.rows, plan.depth, plan.columns, left.data() + i * plan.rows * plan.depth,
                  right.data() + j * plan.depth * plan.columns,
                  sums.data() + o * plan.rows * plan.columns);
    });
    store_floats(*out, sums);
    return {};
  }
  with_type(a.type(), [&]<class T>() {
    if constexpr (std::is_integral_v<T>) {
      const auto left = a.values<T>(), right = b.values<T>();
      std::vector<std::uint64_t> x(left.begin(), left.end()), y(right.begin(), right.end());
      std::vector<std::uint64_t> sums(static_cast<std::size_t>(out->count()));
      each_matrix(plan, [&](std::int64_t i, std::int64_t j, std::int64_t o) {
        multiply_rows(plan.rows, plan.depth, plan.columns, x.data() + i * plan.rows * plan.depth,
                      y.data() + j * plan.depth * plan.columns,
                      sums.data() + o * plan.rows * plan.columns);
      });
      const auto result = out->mutable_values<T>();
      for (std::size_t i = 0; i < sums.size(); ++i) result[i] = static_cast<T>(sums[i]);
    }
  });
  return {};
}

std::vector<float> transposed_if(bool transpose, const Tensor& matrix) {
  std::vector<float> values = floats_of(matrix);
  if (!transpose) return values;
  const std::int64_t rows = matrix.shape()[0], columns = matrix.shape()[1];
  std::vector<float> out(values.size());
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j)
      out[static_cast<std::size_t>(j * rows + i)] =
          values[static_cast<std::size_t>(i * columns + j)];
  return out;
}

// Integer sums are exact and wrap around at 64 bits. If alpha or beta is not 1, its product is
// computed as a double, limited to 9e18 in size and cut towards zero.
void multiply_integers(const GemmPlan& plan, const Tensor& a, const Tensor& b, const Tensor* c,
                       Tensor& out) {
  const std::vector<std::int64_t> left = a.integers(), right = b.integers(),
                                  added =
                                      c == nullptr ? std::vector<std::int64_t>() : c->integers();
  std::vector<std::int64_t> sums;
  for (std::int64_t i = 0; i < plan.rows; ++i)
    for (std::int64_t j = 0; j < plan.columns; ++j) {
      std::uint64_t sum = 0;
      for (std::int64_t k = 0; k < plan.depth; ++k) {
        const std::int64_t from = plan.transpose_a ? k * plan.rows + i : i * plan.depth + k;
        const std::int64_t by = plan.transpose_b ? j * plan.depth + k : k * plan.columns + j;
        sum += static_cast<std::uint64_t>(left[static_cast<std::size_t>(from)]) *
               static_cast<std::uint64_t>(right[static_cast<std::size_t>(by)]);
      }
      sums.push_back(static_cast<std::int64_t>(sum));
    }
  const auto scaled = [](float factor, std::int64_t value) {
    return factor == 1
               ? value
               : static_cast<std::int64_t>(std::clamp(
                     static_cast<double>(factor) * static_cast<double>(value), -9e18, 9e18));
  };
  for (std::int64_t& sum : sums) sum = scaled(plan.alpha, sum);
  if (c != nullptr) {
    walk<1>(out.shape(), {broadcast_strides(c->shape(), out.shape())}, {0},
            [&](std::int64_t i, const std::array<std::int64_t, 1>& from) {
              std::int64_t& sum = sums[static_cast<std::size_t>(i)];
              sum = static_cast<std::int64_t>(
                  static_cast<std::uint64_t>(sum) +
                  static_cast<std::uint64_t>(
                      scaled(plan.beta, added[static_cast<std::size_t>(from[0])])));
            });
  }
  with_type(out.type(), [&]<class T>() {
    if constexpr (std::is_integral_v<T>) {
      const auto result = out.mutable_values<T>();
      for (std::size_t i = 0; i < sums.size(); ++i) result[i] = static_cast<T>(sums[i]);
    }
  });
}

Result<> run_gemm(Call& call) {
  const Tensor &a = call.input(0), &b = call.input(1);
  if (a.type() == ElementType::boolean) return call.bad_type(0);
  WEFT_ASSIGN(const GemmPlan plan, plan_gemm(call));
  const Tensor* c = call.optional_input(2);
  WEFT_ASSIGN(Tensor * out, call.make(0, a.type(), {plan.rows, plan.columns}));
  if (call.shapes_only()) return {};
  if (!is_float(a.type())) {
    multiply_integers(plan, a, b, c, *out);
    return {};
  }
  std::vector<float> sums(static_cast<std::size_t>(out->count()));
  add_product(plan.rows, plan.depth, plan.columns, transposed_if(plan.transpose_a, a).data(),
              transposed_if(plan.transpose_b, b).data(), sums.data());
  for (float& sum : sums) sum *= plan.alpha;
  if (c != nullptr) {
    const std::vector<float> added = floats_of(*c);
    walk<1>(out->shape(), {broadcast_strides(c->shape(), out->shape())}, {0},
            [&](std::int64_t i, const std::array<std::int64_t, 1>& from) {
              sums[static_cast<std::size_t>(i)] +=
                  plan.beta * added[static_cast<std::size_t>(from[0])];
            });
  }
  store_floats(*out, sums);
  return {};
}

Result<> run_matmul_integer(Call& call) {
  const Tensor &a = call.input(0), &b = call.input(1);
  for (const std::size_t i : {0, 1})
    if (!is_byte(call.input(i).type())) return call.bad_type(i);
  const Tensor *a_zero = call.optional_input(2), *b_zero = call.optional_input(3);
  const Shape &as = a.shape(), &bs = b.shape();
  if (a_zero != nullptr &&
      (a_zero->type() != a.type() ||
       (a_zero->count() != 1 && (as.size() < 2 || a_zero->count() != as[as.size() - 2]))))
    return call.bad_type(2);
  if (b_zero != nullptr && (b_zero->type() != b.type() ||
                            (b_zero->count() != 1 && (bs.empty() || b_zero->count() != bs.back()))))
    return call.bad_type(3);
  WEFT_ASSIGN(const ProductPlan plan, plan_product(call, as, bs));
  WEFT_ASSIGN(Tensor * out, call.make(0, ElementType::i32, plan.output));
  if (call.shapes_only()) return {};
  const auto left = less_zero_point(a, a_zero, a.rank() - 2);
  const auto right = less_zero_point(b, b_zero, b.rank() - 1);
  std::int32_t* sums = out->mutable_values<std::int32_t>().data();
  each_matrix(plan, [&](std::int64_t i, std::int64_t j, std::int64_t o) {
    add_product(plan.rows, plan.depth, plan.columns, left.data() + i * plan.rows * plan.depth,
                right.data() + j * plan.depth * plan.columns, sums + o * plan.rows * plan.columns);
  });
  return {};
}

}  // namespace

Result<ProductPlan> plan_product(const Call& call, const Shape& a, const Shape& b) {
  if (a.empty() || b.empty()) return call.error("a scalar has no matrix product.");
  const Shape left = matrix_shape(a, true), right = matrix_shape(b, false);
  const Shape left_batch(left.begin(), left.end() - 2), right_batch(right.begin(), right.end() - 2);
  const auto batch = broadcast(left_batch, right_batch);
  if (!batch || left.back() != right[right.size() - 2])
    return call.error("matrices of shapes {} and {} have no product.", to_string(a), to_string(b));
  ProductPlan plan{.batch = *batch,
                   .a_strides = broadcast_strides(left_batch, *batch),
                   .b_strides = broadcast_strides(right_batch, *batch),
                   .rows = left[left.size() - 2],
                   .depth = left.back(),
                   .columns = right.back(),
                   .output = *batch};
  if (a.size() > 1) plan.output.push_back(plan.rows);
  if (b.size() > 1) plan.output.push_back(plan.columns);
  return plan;
}

Result<GemmPlan> plan_gemm(const Call& call) {
  const Tensor &a = call.input(0), &b = call.input(1);
  if (b.type() != a.type()) return call.bad_type(1);
  if (a.rank() != 2 || b.rank() != 2)
    return call.error("shapes {} and {} are not matrices.", to_string(a.shape()),
                      to_string(b.shape()));
  GemmPlan plan{.transpose_a = call.integer("transA", 0) != 0,
                .transpose_b = call.integer("transB", 0) != 0,
                .alpha = call.number("alpha", 1),
                .beta = call.number("beta", 1)};
  plan.rows = a.shape()[plan.transpose_a ? 1 : 0];
  plan.depth = a.shape()[plan.transpose_a ? 0 : 1];
  plan.columns = b.shape()[plan.transpose_b ? 0 : 1];
  if (b.shape()[plan.transpose_b ? 1 : 0] != plan.depth)
    return call.error("matrices of shapes {} and {} have no product.", to_string(a.shape()),
                      to_string(b.shape()));
  if (const Tensor* c = call.optional_input(2)) {
    if (c->type() != a.type()) return call.bad_type(2);
    const Shape target = {plan.rows, plan.columns};
    const auto shape = broadcast(c->shape(), target);
    if (!shape || *shape != target)
      return call.error("input 2 of shape {} does not broadcast to {}.", to_string(c->shape()),
                        to_string(target));
  }
  return plan;
}

void add_product(std::int64_t rows, std::int64_t depth, std::int64_t columns, const float* a,
                 const float* b, float* out) {
  multiply_rows(rows, depth, columns, a, b, out);
}
void add_product(std::int64_t rows, std::int64_t depth, std::int64_t columns, const std::int32_t* a,
                 const std::int32_t* b, std::int32_t* out) {
  multiply_rows(rows, depth, columns, a, b, out);
}

void each_matrix(const ProductPlan& plan,
                 const std::function<void(std::int64_t, std::int64_t, std::int64_t)>& use) {
  walk<2>(
      plan.batch, {plan.a_strides, plan.b_strides}, {0, 0},
      [&](std::int64_t i, const std::array<std::int64_t, 2>& from) { use(from[0], from[1], i); });
}

std::span<const Operator> product_operators() {
  static constexpr Operator rows[] = {
      {"Gemm", run_gemm, 2, 3, 1, "alpha:f beta:f transA:i transB:i broadcast:i"},
      {"MatMul", run_matmul, 2, 2},
      {"MatMulInteger", run_matmul_integer, 2, 4},
  };
  return rows;
}

}  // namespace weft::onnx
