// Kernels of matrix products.
#include "engine/onnx/operators/product.h"

#include <bit>
#include <functional>

#include "engine/onnx/gpu/kernel.h"
#include "engine/onnx/operators/walk.h"

namespace weft::onnx {
namespace {

std::string chain_label(const Node& node, const Epilogue& epilogue) {
  std::string label = node.op;
  for (const Node* next : epilogue.nodes) label += "+" + next->op;
  return label;
}

// A product of matrices as a kernel needs it: how elements are read and how a sum becomes a result.
struct ProductText {
  std::int64_t matrices = 1;
  std::int64_t rows = 0;
  std::int64_t depth = 0;
  std::int64_t columns = 0;
  std::string start;  // Statements that run once for a matrix number `matrix`.
  // Functions that return expressions for elements, from names of a row, an index in the depth and
  // a column.
  std::function<std::string(std::string_view row, std::string_view k)> left;
  std::function<std::string(std::string_view k, std::string_view column)> right;
  std::string finish;  // Statements that compute `sum` for element `o` from `total`.
};
constexpr std::int64_t tile = 32;        // Rows and columns of one workgroup's results.
constexpr std::int64_t tile_depth = 16;  // Depth of the tiles in workgroup memory.

bool fills_tiles(const ProductText& about) {
  return about.rows >= tile / 2 && about.columns >= tile / 2 && about.depth >= tile_depth;
}

// A kernel whose 64 threads compute 32 by 32 results, 4 by 4 each. Tiles of both operands with a
// depth of 16 are loaded into workgroup memory, so that each element that is read is used for 32
// results.
MaybeKernels tiled_product(const KernelContext& context, const Node& node, KernelText& text,
                           const ProductText& about, const Epilogue& epilogue) {
  const std::int64_t down = (about.rows + tile - 1) / tile;
  const std::int64_t across = (about.columns + tile - 1) / tile;
  std::string body = weft::format(
      "  let matrix = group / {0}u;\n  let first_row = group / {1}u % {2}u * {3}u;\n"
      "  let first_column = group % {1}u * {3}u;\n  let y = lane / 8u;\n  let x = lane % 8u;\n",
      down * across, across, down, tile);
  body += about.start;
  for (int r = 0; r < 4; ++r) body += weft::format("  var sum_{} = vec4f(0.0);\n", r);
  body += weft::format(
      "  for (var depth = 0u; depth < {0}u; depth += {1}u) {{\n"
      "    for (var e = lane; e < {2}u; e += 64u) {{\n"
      "      let row = first_row + e / {1}u;\n      let k = depth + e % {1}u;\n"
      "      var value = 0.0;\n      if (row < {3}u && k < {0}u) {{ value = {4}; }}\n"
      "      lefts[e] = value;\n    }}\n"
      "    for (var e = lane; e < {2}u; e += 64u) {{\n"
      "      let k = depth + e / {5}u;\n      let column = first_column + e % {5}u;\n"
      "      var value = 0.0;\n      if (k < {0}u && column < {6}u) {{ value = {7}; }}\n"
      "      rights[e] = value;\n    }}\n    workgroupBarrier();\n"
      "    for (var k = 0u; k < {1}u; k++) {{\n"
      "      let b = vec4f(rights[k * {5}u + x], rights[k * {5}u + x + 8u], rights[k * {5}u + x + "
      "16u], rights[k * {5}u + x + 24u]);\n",
      about.depth, tile_depth, tile * tile_depth, about.rows, about.left("row", "k"), tile,
      about.columns, about.right("k", "column"));
  for (int r = 0; r < 4; ++r)
    body +=
        weft::format("      sum_{0} += lefts[(y + {1}u) * {2}u + k] * b;\n", r, r * 8, tile_depth);
  body += "    }\n    workgroupBarrier();\n  }\n";
  for (int r = 0; r < 4; ++r)
    for (int c = 0; c < 4; ++c)
      body += weft::format("  parts[{}u + lane] = sum_{}[{}];\n", (r * 4 + c) * 64, r, c);
  body += weft::format(
      "  for (var e = 0u; e < 16u; e++) {{\n    let row = first_row + y + e / 4u * 8u;\n"
      "    let column = first_column + x + e % 4u * 8u;\n"
      "    if (row >= {0}u || column >= {1}u) {{ continue; }}\n"
      "    let total = parts[e * 64u + lane];\n    let o = (matrix * {0}u + row) * {1}u + "
      "column;\n",
      about.rows, about.columns);
  body += about.finish;
  const auto result = apply_chain(context, epilogue, node.outputs[0], "sum", "o", text, body);
  if (!result) return std::nullopt;
  const ValueId last = epilogue.nodes.empty() ? node.outputs[0] : epilogue.nodes.back()->outputs[0];
  body += weft::format("  {}[o] = {};\n  }}\n", text.output(last, context.tensor(last).type()),
                       *result);
  return std::vector{text.build_groups(
      chain_label(node, epilogue), static_cast<std::uint64_t>(about.matrices * down * across),
      weft::format("var<workgroup> lefts: array<f32, {0}>;\nvar<workgroup> rights: array<f32, "
                   "{0}>;\nvar<workgroup> parts: array<f32, 1024>;\n",
                   tile * tile_depth),
      body)};
}

MaybeKernels matmul_kernels(const KernelContext& context, const Node& node, const Call& call,
                            const Epilogue& epilogue) {
  const Tensor &a = call.input(0), &b = call.input(1);
  const auto plan = plan_product(call, a.shape(), b.shape());
  if (!plan || !is_float(a.type()) || element_count(plan->output) == 0) return std::nullopt;
  KernelText text;
  const std::string left = text.input(node.inputs[0], a.type());
  const std::string right = text.input(node.inputs[1], b.type());
  const ProductText about{
      .matrices = element_count(plan->batch),
      .rows = plan->rows,
      .depth = plan->depth,
      .columns = plan->columns,
      .start = weft::format(
          "  let left_at = {} * {}u;\n  let right_at = {} * {}u;\n",
          strided_index("matrix", plan->batch, plan->a_strides), plan->rows * plan->depth,
          strided_index("matrix", plan->batch, plan->b_strides), plan->depth * plan->columns),
      .left =
          [&](std::string_view row, std::string_view k) {
            return weft::format("{}[left_at + {} * {}u + {}]", left, row, plan->depth, k);
          },
      .right =
          [&](std::string_view k, std::string_view column) {
            return weft::format("{}[right_at + {} * {}u + {}]", right, k, plan->columns, column);
          },
      .finish = "    let sum = total;\n"};
  if (fills_tiles(about)) return tiled_product(context, node, text, about, epilogue);
  std::string body = weft::format(
      "  let column = i % {0}u;\n  let row = i / {0}u % {1}u;\n  let matrix = i / {2}u;\n"
      "  let left_at = {3} * {4}u + row * {5}u;\n  let right_at = {6} * {7}u + column;\n"
      "  var sum = 0.0;\n  for (var k = 0u; k < {5}u; k++) {{ sum += {8}[left_at + k] * "
      "{9}[right_at + k * "
      "{0}u]; }}\n",
      plan->columns, plan->rows, plan->rows * plan->columns,
      strided_index("matrix", plan->batch, plan->a_strides), plan->rows * plan->depth, plan->depth,
      strided_index("matrix", plan->batch, plan->b_strides), plan->depth * plan->columns, left,
      right);
  const auto result = apply_chain(context, epilogue, node.outputs[0], "sum", "i", text, body);
  if (!result) return std::nullopt;
  const ValueId last = epilogue.nodes.empty() ? node.outputs[0] : epilogue.nodes.back()->outputs[0];
  body += weft::format("  {}[i] = {};\n", text.output(last, context.tensor(last).type()), *result);
  return std::vector{text.build(chain_label(node, epilogue),
                                static_cast<std::uint64_t>(element_count(plan->output)), body)};
}

MaybeKernels gemm_kernels(const KernelContext& context, const Node& node, const Call& call,
                          const Epilogue& epilogue) {
  const auto plan = plan_gemm(call);
  const Tensor &a = call.input(0), &b = call.input(1);
  if (!plan || !is_float(a.type()) || plan->rows * plan->columns == 0) return std::nullopt;
  KernelText text;
  const std::string left = text.input(node.inputs[0], a.type());
  const std::string right = text.input(node.inputs[1], b.type());
  const auto left_text = [&](std::string_view row, std::string_view k) {
    return plan->transpose_a ? weft::format("{}[{} * {}u + {}]", left, k, plan->rows, row)
                             : weft::format("{}[{} * {}u + {}]", left, row, plan->depth, k);
  };
  const auto right_text = [&](std::string_view k, std::string_view column) {
    return plan->transpose_b ? weft::format("{}[{} * {}u + {}]", right, column, plan->depth, k)
                             : weft::format("{}[{} * {}u + {}]", right, k, plan->columns, column);
  };
  ProductText about{.matrices = 1,
                    .rows = plan->rows,
                    .depth = plan->depth,
                    .columns = plan->columns,
                    .start = {},
                    .left = left_text,
                    .right = right_text,
                    .finish = weft::format("    var sum = total * bitcast<f32>({}u);\n",
                                           std::bit_cast<std::uint32_t>(plan->alpha))};
  if (fills_tiles(about)) {
    if (const Tensor* c = call.optional_input(2)) {
      const Shape out = {plan->rows, plan->columns};
      about.finish += weft::format("    sum += bitcast<f32>({}u) * {}[{}];\n",
                                   std::bit_cast<std::uint32_t>(plan->beta),
                                   text.input(node.inputs[2], c->type()),
                                   strided_index("o", out, broadcast_strides(c->shape(), out)));
    }
    return tiled_product(context, node, text, about, epilogue);
  }
  std::string body = weft::format(
      "  let column = i % {0}u;\n  let row = i / {0}u;\n  var sum = 0.0;\n"
      "  for (var k = 0u; k < {1}u; k++) {{ sum += {2}[{3}] * {4}[{5}]; }}\n"
      "  sum *= bitcast<f32>({6}u);\n",
      plan->columns, plan->depth, left,
      plan->transpose_a ? weft::format("k * {}u + row", plan->rows)
                        : weft::format("row * {}u + k", plan->depth),
      right,
      plan->transpose_b ? weft::format("column * {}u + k", plan->depth)
                        : weft::format("k * {}u + column", plan->columns),
      std::bit_cast<std::uint32_t>(plan->alpha));
  if (const Tensor* c = call.optional_input(2)) {
    const Shape out = {plan->rows, plan->columns};
    const std::string added = text.input(node.inputs[2], c->type());
    body += weft::format("  sum += bitcast<f32>({}u) * {}[{}];\n",
                         std::bit_cast<std::uint32_t>(plan->beta), added,
                         strided_index("i", out, broadcast_strides(c->shape(), out)));
  }
  const auto result = apply_chain(context, epilogue, node.outputs[0], "sum", "i", text, body);
  if (!result) return std::nullopt;
  const ValueId last = epilogue.nodes.empty() ? node.outputs[0] : epilogue.nodes.back()->outputs[0];
  body += weft::format("  {}[i] = {};\n", text.output(last, context.tensor(last).type()), *result);
  return std::vector{text.build(chain_label(node, epilogue),
                                static_cast<std::uint64_t>(plan->rows * plan->columns), body)};
}

}  // namespace

MaybeKernels product_kernels(const KernelContext& context, const Node& node,
                             const Epilogue& epilogue) {
  const CallOf made(context, node);
  const Call& call = *made;
  if (node.op == "MatMul") return matmul_kernels(context, node, call, epilogue);
  if (node.op == "Gemm") return gemm_kernels(context, node, call, epilogue);
  return std::nullopt;
}

}  // namespace weft::onnx
