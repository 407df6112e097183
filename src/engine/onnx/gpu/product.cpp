// Kernels of matrix products.
#include "engine/onnx/operators/product.h"

#include "engine/onnx/gpu/kernel.h"
#include "engine/onnx/operators/walk.h"

namespace weft::onnx {
namespace {

std::string chain_label(const Node& node, const Epilogue& epilogue) {
  std::string label = node.op;
  for (const Node* next : epilogue.nodes) label += "+" + next->op;
  return label;
}

MaybeKernels matmul_kernels(const KernelContext& context, const Node& node, const Call& call,
                            const Epilogue& epilogue) {
  const Tensor &a = call.input(0), &b = call.input(1);
  const auto plan = plan_product(call, a.shape(), b.shape());
  if (!plan || !is_float(a.type()) || element_count(plan->output) == 0) return std::nullopt;
  KernelText text;
  const std::string left = text.input(node.inputs[0], a.type());
  const std::string right = text.input(node.inputs[1], b.type());
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
  std::vector<const Tensor*> inputs;
  for (std::size_t i = 0; i < node.inputs.size(); ++i)
    inputs.push_back(context.optional_tensor(node, i));
  const Call call(node, inputs, {.opset = context.graph.opset, .shapes_only = true});
  if (node.op == "MatMul") return matmul_kernels(context, node, call, epilogue);
  if (node.op == "Gemm") return gemm_kernels(context, node, call, epilogue);
  return std::nullopt;
}

}  // namespace weft::onnx
