// Kernels that combine the elements of a row: softmax, norms, indices of extremes. A workgroup of
// 64 threads computes a row: each thread adds up its elements, and the threads combine their sums
// in workgroup memory.
#include <algorithm>

#include "engine/onnx/gpu/kernel.h"
#include "engine/onnx/gpu/team.h"
#include "engine/onnx/operators/walk.h"

namespace weft::onnx {
namespace {

// Returns statements that set `base` for a row along an axis; element k of the row is at `base + k
// * after`.
std::string axis_base(const AxisView& view) {
  return weft::format("  let base = group / {0}u * {1}u + group % {0}u;\n", view.after,
                      view.length * view.after);
}
std::string each_of_row(std::int64_t length, std::string_view statement) {
  return weft::format("  for (var k = lane; k < {}u; k += 64u) {{ {} }}\n", length, statement);
}

MaybeKernels softmax_kernels(const KernelContext& context, const Node& node, const Call& call) {
  const Tensor& x = call.input(0);
  if (!is_float(x.type()) || x.rank() == 0 || x.count() == 0) return std::nullopt;
  const bool is_old = context.graph.opset < 13;
  std::int64_t axis = call.integer("axis", is_old ? 1 : -1);
  if (axis < 0) axis += x.rank();
  AxisView view(x.shape(), axis);
  if (is_old) {
    view.length *= view.after;
    view.after = 1;
  }
  KernelText text;
  const std::string in = text.input(node.inputs[0], x.type());
  const std::string out = text.output(node.outputs[0], x.type());
  const std::string element = weft::format("{}[base + k * {}u]", in, view.after);
  std::string body = axis_base(view);
  body += weft::format("  var largest_here = {};\n", lowest);
  body += each_of_row(view.length, "largest_here = max(largest_here, " + element + ");");
  body += "  let largest = team_max(largest_here, lane);\n  var sum_here = 0.0;\n";
  body += each_of_row(view.length, "sum_here += exp(" + element + " - largest);");
  body += "  let sum = team_sum(sum_here, lane);\n";
  body += each_of_row(view.length,
                      weft::format("{}[base + k * {}u] = {};", out, view.after,
                                   node.op == "Softmax" ? "exp(" + element + " - largest) / sum"
                                                        : element + " - largest - log(sum)"));
  return std::vector{text.build_groups(
      node.op, static_cast<std::uint64_t>(view.before * view.after), team_text, body)};
}

MaybeKernels place_kernels(const KernelContext& context, const Node& node, const Call& call) {
  const Tensor& x = call.input(0);
  if (x.type() == ElementType::boolean || x.rank() == 0) return std::nullopt;
  std::int64_t axis = call.integer("axis", 0);
  if (axis < 0) axis += x.rank();
  const AxisView view(x.shape(), axis);
  if (x.count() == 0) return std::nullopt;
  KernelText text;
  const std::string in = text.input(node.inputs[0], x.type());
  const std::string out = text.output(node.outputs[0], context.tensor(node.outputs[0]).type());
  std::string sign = node.op == "ArgMax" ? ">" : "<";
  if (call.integer("select_last_index", 0) != 0) sign += "=";
  const std::string body = weft::format(
      "  let base = i / {0}u * {1}u + i % {0}u;\n  var best = 0u;\n  var value = {2}[base];\n"
      "  for (var k = 1u; k < {3}u; k++) {{\n    let next = {2}[base + k * {0}u];\n"
      "    if (next {4} value) {{ value = next; best = k; }}\n  }}\n  {5}[i] = i32(best);\n",
      view.after, view.length * view.after, in, view.length, sign, out);
  return std::vector{
      text.build(node.op, static_cast<std::uint64_t>(view.before * view.after), body)};
}

// Kernels of LayerNormalization, RMSNormalization, InstanceNormalization and GroupNormalization:
// rows of neighbouring elements are normalised, then each element gets a factor and an addend.
MaybeKernels norm_kernels(const KernelContext& context, const Node& node, const Call& call) {
  const Tensor& x = call.input(0);
  if (!is_float(x.type()) || x.count() == 0) return std::nullopt;
  const bool rms = node.op == "RMSNormalization";
  const bool rows = rms || node.op == "LayerNormalization";
  std::int64_t length = 1;
  if (rows) {
    std::int64_t axis = call.integer("axis", -1);
    if (axis < 0) axis += x.rank();
    for (std::int64_t d = axis; d < x.rank(); ++d) length *= x.shape()[static_cast<std::size_t>(d)];
  } else {
    const std::int64_t groups =
        node.op == "GroupNormalization" ? call.integer("num_groups", 1) : x.shape()[1];
    length = x.count() / x.shape()[0] / groups;
    if (node.op == "GroupNormalization" && context.graph.opset < 21) return std::nullopt;
  }
  KernelText text;
  const std::string in = text.input(node.inputs[0], x.type());
  const std::string out = text.output(node.outputs[0], x.type());
  const auto operand = [&](std::size_t i) -> std::string {
    const Tensor* given = call.optional_input(i);
    if (given == nullptr) return {};
    Shape strides;
    if (rows) {
      strides = broadcast_strides(given->shape(), x.shape());
    } else {
      strides.assign(x.shape().size(), 0);
      strides[1] = 1;
    }
    return weft::format("{}[{}]", text.input(node.inputs[i], given->type()),
                        strided_index("(base + k)", x.shape(), strides));
  };
  const std::string scale = operand(1), bias = operand(2);
  std::string body = weft::format("  let base = group * {}u;\n  var mean = 0.0;\n", length);
  if (!rms) {
    body += "  var here = 0.0;\n";
    body += each_of_row(length, weft::format("here += {}[base + k];", in));
    body += weft::format("  mean = team_sum(here, lane) / f32({});\n", length);
  }
  body += "  var squares = 0.0;\n";
  body += each_of_row(length, weft::format("let x = {}[base + k] - mean; squares += x * x;", in));
  body += weft::format(
      "  let factor = 1.0 / sqrt(team_sum(squares, lane) / f32({}) + bitcast<f32>({}u));\n", length,
      std::bit_cast<std::uint32_t>(call.number("epsilon", 1e-5f)));
  body += each_of_row(
      length, weft::format("{}[base + k] = ({}[base + k] - mean) * factor{}{};", out, in,
                           scale.empty() ? "" : " * " + scale, bias.empty() ? "" : " + " + bias));
  const auto also = [&](std::size_t output, std::string_view value) {
    if (output >= node.outputs.size() || node.outputs[output] == no_value) return;
    body += weft::format("  if (lane == 0u) {{ {}[group] = {}; }}\n",
                         text.output(node.outputs[output], ElementType::f32), value);
  };
  also(1, "mean");
  also(2, "factor");
  return std::vector{
      text.build_groups(node.op, static_cast<std::uint64_t>(x.count() / length), team_text, body)};
}

MaybeKernels length_kernels(const Node& node, const Call& call) {
  const Tensor& x = call.input(0);
  if (!is_float(x.type()) || x.count() == 0) return std::nullopt;
  std::int64_t axis = call.integer("axis", -1);
  if (axis < 0) axis += x.rank();
  const AxisView view(x.shape(), axis);
  const bool absolute = call.integer("p", 2) == 1;
  KernelText text;
  const std::string in = text.input(node.inputs[0], x.type());
  const std::string out = text.output(node.outputs[0], x.type());
  std::string body = axis_base(view) + "  var here = 0.0;\n";
  const std::string element = weft::format("{}[base + k * {}u]", in, view.after);
  body += each_of_row(
      view.length, weft::format("let x = {}; here += {};", element, absolute ? "abs(x)" : "x * x"));
  body += weft::format("  let norm = {};\n",
                       absolute ? "team_sum(here, lane)" : "sqrt(team_sum(here, lane))");
  body += each_of_row(view.length,
                      weft::format("{}[base + k * {}u] = select({} / norm, 0.0, norm == 0.0);", out,
                                   view.after, element));
  return std::vector{text.build_groups(
      node.op, static_cast<std::uint64_t>(view.before * view.after), team_text, body)};
}

MaybeKernels lrn_kernels(const Node& node, const Call& call) {
  const Tensor& x = call.input(0);
  if (!is_float(x.type()) || x.count() == 0) return std::nullopt;
  const AxisView view(x.shape(), 1);
  const std::int64_t size = call.integer("size", 1);
  const auto bits = [](float value) { return std::bit_cast<std::uint32_t>(value); };
  KernelText text;
  const std::string in = text.input(node.inputs[0], x.type());
  const std::string out = text.output(node.outputs[0], x.type());
  const std::string body = weft::format(
      "  let c = i32(i / {0}u % {1}u);\n  var squares = 0.0;\n"
      "  for (var k = max(0, c - {2}); k <= min({1} - 1, c + {3}); k++) {{\n"
      "    let x = {4}[u32(i32(i) + (k - c) * {0})];\n    squares += x * x;\n  }}\n"
      "  {5}[i] = {4}[i] / pow(bitcast<f32>({6}u) + bitcast<f32>({7}u) * squares, "
      "bitcast<f32>({8}u));\n",
      view.after, view.length, (size - 1) / 2, size / 2, in, out, bits(call.number("bias", 1)),
      bits(call.number("alpha", 1e-4f) / static_cast<float>(size)),
      bits(call.number("beta", 0.75f)));
  return std::vector{text.build(node.op, static_cast<std::uint64_t>(x.count()), body)};
}

}  // namespace

MaybeKernels row_kernels(const KernelContext& context, const Node& node) {
  const CallOf made(context, node);
  const Call& call = *made;
  if (node.op == "Softmax" || node.op == "LogSoftmax") return softmax_kernels(context, node, call);
  if (node.op == "ArgMax" || node.op == "ArgMin") return place_kernels(context, node, call);
  if (node.op == "LayerNormalization" || node.op == "RMSNormalization" ||
      node.op == "InstanceNormalization" || node.op == "GroupNormalization")
    return norm_kernels(context, node, call);
  if (node.op == "LpNormalization") return length_kernels(node, call);
  if (node.op == "LRN") return lrn_kernels(node, call);
  return std::nullopt;
}

}  // namespace weft::onnx
