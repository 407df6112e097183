// Kernels of quantised operators: conversions of floats to small integers and back, and products of
// integers with sums in i32.
#include <bit>

#include "engine/onnx/gpu/kernel.h"
#include "engine/onnx/gpu/narrow.h"
#include "engine/onnx/gpu/team.h"
#include "engine/onnx/gpu/window_text.h"
#include "engine/onnx/operators/product.h"
#include "engine/onnx/operators/quantisation.h"
#include "engine/onnx/operators/walk.h"

namespace weft::onnx {
namespace {

// Returns the text for a scale or a zero point: a literal if it is one known number, else an
// element of a binding. Literals save bindings, of which WebGPU guarantees only eight.
std::string operand(KernelText& text, const Node& node, const Call& call, std::size_t input,
                    std::string_view place) {
  const Tensor* tensor = call.optional_input(input);
  if (tensor == nullptr) return "0";
  const bool is_number = tensor->count() == 1;
  if (is_number && tensor->has_bytes()) {
    if (is_float(tensor->type()))
      return weft::format("bitcast<f32>({}u)",
                          std::bit_cast<std::uint32_t>(static_cast<float>(tensor->number(0))));
    return std::to_string(tensor->integers()[0]);
  }
  const std::string element = weft::format("{}[{}]", text.input(node.inputs[input], tensor->type()),
                                           is_number ? std::string_view("0u") : place);
  return is_float(tensor->type()) ? element : "i32(" + element + ")";
}

std::string scale_place(const Scales& scales) {
  if (scales.along == 1 && scales.block == 0) return "0u";
  const std::string k = weft::format("(i / {}u % {}u)", scales.view.after, scales.view.length);
  if (scales.block == 0) return k;
  return weft::format("(i / {}u * {}u + {} / {}u) * {}u + i % {}u",
                      scales.view.after * scales.view.length, scales.along, k, scales.block,
                      scales.view.after, scales.view.after);
}

MaybeKernels quantise_kernels(const KernelContext& context, const Node& node, const Call& call) {
  const Tensor& x = call.input(0);
  const auto scales = plan_scales(call);
  if (!scales || x.count() == 0) return std::nullopt;
  const ElementType type = context.tensor(node.outputs[0]).type();
  KernelText text;
  const std::string in = text.input(node.inputs[0], x.type());
  const std::string place = scale_place(*scales);
  const std::string scale = operand(text, node, call, 1, place);
  const std::string zero = operand(text, node, call, 2, place);
  const std::string to = text.output(node.outputs[0], type);
  const std::string body = weft::format(
      "  {}[i] = {};\n", to, saturated(type, weft::format("f32({}[i]) / {}", in, scale), zero));
  return std::vector{text.build(node.op, static_cast<std::uint64_t>(x.count()), body)};
}

MaybeKernels dequantise_kernels(const KernelContext& context, const Node& node, const Call& call) {
  const Tensor& x = call.input(0);
  const auto scales = plan_scales(call);
  if (!scales || x.count() == 0) return std::nullopt;
  KernelText text;
  const std::string in = text.input(node.inputs[0], x.type());
  const std::string place = scale_place(*scales);
  const std::string scale = operand(text, node, call, 1, place);
  const std::string zero = operand(text, node, call, 2, place);
  const std::string to = text.output(node.outputs[0], context.tensor(node.outputs[0]).type());
  const std::string body =
      weft::format("  {}[i] = f32(i32({}[i]) - {}) * {};\n", to, in, zero, scale);
  return std::vector{text.build(node.op, static_cast<std::uint64_t>(x.count()), body)};
}

// Returns two kernels: one workgroup finds the range, then one thread for each element quantises.
MaybeKernels dynamic_kernels(const Node& node, const Call& call) {
  const Tensor& x = call.input(0);
  if (!call.wants(0) || !call.wants(1) || !call.wants(2) || x.count() == 0) return std::nullopt;
  KernelText range;
  const std::string all = range.input(node.inputs[0], x.type());
  const std::string step_out = range.output(node.outputs[1], ElementType::f32);
  const std::string zero_out = range.output(node.outputs[2], ElementType::u8);
  const std::string range_body = weft::format(
      "  var low_here = 0.0;\n  var high_here = 0.0;\n"
      "  for (var k = lane; k < {0}u; k += 64u) {{ low_here = max(low_here, -{1}[k]); "
      "high_here = max(high_here, {1}[k]); }}\n"
      "  let low = -team_max(low_here, lane);\n  let high = team_max(high_here, lane);\n"
      "  if (lane == 0u) {{\n    let step = (high - low) / 255.0;\n    {2}[0] = step;\n"
      "    {3}[0] = select(u32(clamp(round(-low / step), 0.0, 255.0)), 0u, step == 0.0);\n  }}\n",
      x.count(), all, step_out, zero_out);
  KernelText each;
  const std::string in = each.input(node.inputs[0], x.type());
  const std::string step = each.input(node.outputs[1], ElementType::f32);
  const std::string zero = each.input(node.outputs[2], ElementType::u8);
  const std::string to = each.output(node.outputs[0], ElementType::u8);
  const std::string body = weft::format(
      "  let step = {}[0];\n  let zero = i32({}[0]);\n  if (step == 0.0) {{ {}[i] = u32(zero); "
      "return; }}\n  {}[i] = {};\n",
      step, zero, to, to, saturated(ElementType::u8, in + "[i] / step", "zero"));
  return std::vector{range.build_groups(node.op + " range", 1, team_text, range_body),
                     each.build(node.op, static_cast<std::uint64_t>(x.count()), body)};
}

// The numbers of a node's inputs that hold the two factors and their zero points.
struct Factors {
  std::size_t a = 0, a_zero = 0, b = 0, b_zero = 0;
};
Factors factors_of(const Node& node) {
  if (node.op.starts_with("QLinear")) return {0, 2, 3, 5};
  return {0, 2, 1, 3};
}

// Returns the text of the result: the sum in units of the result's scale for QLinear operators, the
// sum itself for others.
std::string result_text(KernelText& text, const Node& node, const Call& call, ElementType type,
                        std::string_view a_place, std::string_view b_place) {
  if (!node.op.starts_with("QLinear")) return "sum";
  const std::string a_scale = operand(text, node, call, 1, a_place);
  const std::string b_scale = operand(text, node, call, 4, b_place);
  const std::string scale = operand(text, node, call, 6, "0u");
  const std::string zero = operand(text, node, call, 7, "0u");
  return saturated(type, weft::format("f32(sum) * ({} * {}) / {}", a_scale, b_scale, scale), zero);
}

MaybeKernels integer_product_kernels(const KernelContext& context, const Node& node,
                                     const Call& call) {
  const Factors use = factors_of(node);
  const Tensor &a = call.input(use.a), &b = call.input(use.b);
  const auto plan = plan_product(call, a.shape(), b.shape());
  if (!plan || element_count(plan->output) == 0) return std::nullopt;
  const ElementType type = context.tensor(node.outputs[0]).type();
  KernelText text;
  const std::string left = text.input(node.inputs[use.a], a.type());
  const std::string right = text.input(node.inputs[use.b], b.type());
  std::string body = weft::format(
      "  let column = i % {0}u;\n  let row = i / {0}u % {1}u;\n  let matrix = i / {2}u;\n"
      "  let left_at = {3} * {4}u + row * {5}u;\n  let right_at = {6} * {7}u + column;\n",
      plan->columns, plan->rows, plan->rows * plan->columns,
      strided_index("matrix", plan->batch, plan->a_strides), plan->rows * plan->depth, plan->depth,
      strided_index("matrix", plan->batch, plan->b_strides), plan->depth * plan->columns);
  body += weft::format(
      "  let a_zero = {};\n  let b_zero = {};\n  var sum = 0;\n"
      "  for (var k = 0u; k < {}u; k++) {{ sum += (i32({}[left_at + k]) - a_zero) * "
      "(i32({}[right_at + k * {}u]) - b_zero); }}\n",
      operand(text, node, call, use.a_zero, "row"), operand(text, node, call, use.b_zero, "column"),
      plan->depth, left, right, plan->columns);
  const std::string result = result_text(text, node, call, type, "row", "column");
  body += weft::format("  {}[i] = {};\n", text.output(node.outputs[0], type), result);
  return std::vector{
      text.build(node.op, static_cast<std::uint64_t>(element_count(plan->output)), body)};
}

MaybeKernels integer_convolution_kernels(const KernelContext& context, const Node& node,
                                         const Call& call) {
  const Factors use = factors_of(node);
  const Tensor &x = call.input(use.a), &weights = call.input(use.b);
  const auto plan = plan_convolution(call, x, weights);
  if (!plan || element_count(plan->output) == 0) return std::nullopt;
  const Window& w = plan->window;
  const std::int64_t taps = element_count(w.kernel), in_plane = element_count(w.input),
                     out_plane = element_count(w.output), channels = plan->output[1];
  const ElementType type = context.tensor(node.outputs[0]).type();
  KernelText text;
  const std::string in = text.input(node.inputs[use.a], x.type());
  const std::string factors = text.input(node.inputs[use.b], weights.type());
  const bool has_bias = node.op == "QLinearConv" && call.optional_input(8) != nullptr;
  std::string body = weft::format(
      "  let at = i % {0}u;\n  let channel = i / {0}u % {1}u;\n  let image = i / {2}u;\n"
      "  let input_base = (image * {3}u + channel / {4}u) * {5}u;\n"
      "  let x_zero = {6};\n  let w_zero = {7};\n  var sum = {8};\n",
      out_plane, channels, out_plane * channels, plan->groups, plan->channels_out,
      plan->channels_in * in_plane, operand(text, node, call, use.a_zero, "0u"),
      operand(text, node, call, use.b_zero, "channel"),
      has_bias ? operand(text, node, call, 8, "channel") : std::string("0"));
  body += window_loops(
      w,
      weft::format("  for (var c = 0u; c < {0}u; c++) {{ sum += (i32({1}[input_base + c * {2}u + "
                   "place]) - x_zero) * (i32({3}[(channel * {0}u + c) * {4}u + tap]) - w_zero); "
                   "}}\n",
                   plan->channels_in, in, in_plane, factors, taps));
  const std::string result = result_text(text, node, call, type, "0u", "channel");
  body += weft::format("  {}[i] = {};\n", text.output(node.outputs[0], type), result);
  return std::vector{
      text.build(node.op, static_cast<std::uint64_t>(element_count(plan->output)), body)};
}

}  // namespace

MaybeKernels quantised_kernels(const KernelContext& context, const Node& node) {
  const CallOf call(context, node);
  if (node.op == "QuantizeLinear") return quantise_kernels(context, node, *call);
  if (node.op == "DequantizeLinear") return dequantise_kernels(context, node, *call);
  if (node.op == "DynamicQuantizeLinear") return dynamic_kernels(node, *call);
  if (node.op == "QLinearMatMul" || node.op == "MatMulInteger")
    return integer_product_kernels(context, node, *call);
  if (node.op == "QLinearConv" || node.op == "ConvInteger")
    return integer_convolution_kernels(context, node, *call);
  return std::nullopt;
}

}  // namespace weft::onnx
