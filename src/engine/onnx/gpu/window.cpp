// Kernels of transposed convolutions and resizing.
#include "engine/onnx/operators/window.h"

#include <algorithm>
#include <bit>

#include "engine/onnx/gpu/convolution.h"
#include "engine/onnx/gpu/kernel.h"
#include "engine/onnx/gpu/window_text.h"
#include "engine/onnx/operators/resize.h"
#include "engine/onnx/operators/walk.h"

namespace weft::onnx {
namespace {

using Words = std::vector<std::uint32_t>;

// Returns kernels of transposed convolutions. Each output element gathers the products that the
// definition scatters to it from input elements.
MaybeKernels transposed_kernels(const Node& node, const Call& call) {
  const Tensor &x = call.input(0), &weights = call.input(1);
  const auto plan = plan_transposed(call, x, weights);
  if (!plan || !is_float(x.type()) || element_count(plan->output) == 0) return std::nullopt;
  const Window& w = plan->window;
  const std::int64_t taps = element_count(w.kernel), in_plane = element_count(w.input),
                     out_plane = element_count(w.output);
  KernelText text;
  const std::string in = text.input(node.inputs[0], x.type());
  const std::string factors = text.input(node.inputs[1], weights.type());
  const Tensor* bias = call.optional_input(2);
  const std::string added = bias == nullptr ? "" : text.input(node.inputs[2], bias->type());
  const std::string to = text.output(node.outputs[0], x.type());
  const std::int64_t channels = plan->groups * plan->channels_out;
  std::string body = weft::format(
      "  let at = i % {0}u;\n  let channel = i / {0}u % {1}u;\n  let image = i / {2}u;\n"
      "  let group = channel / {3}u;\n  var sum = {4};\n",
      out_plane, channels, out_plane * channels, plan->channels_out,
      bias == nullptr ? std::string("0.0") : added + "[channel]");
  const Shape in_strides = row_major_strides(w.input), out_strides = row_major_strides(w.output),
              k_strides = row_major_strides(w.kernel);
  std::string place = "0", tap = "0", close;
  for (std::size_t d = 0; d < w.kernel.size(); ++d) {
    body += weft::format(
        "  for (var k{0} = 0; k{0} < {1}; k{0}++) {{\n"
        "  let q{0} = i32(at / {2}u % {3}u) + {4} - k{0} * {5};\n"
        "  if (q{0} < 0 || q{0} % {6} != 0 || q{0} / {6} >= {7}) {{ continue; }}\n",
        d, w.kernel[d], out_strides[d], w.output[d], w.pads_before[d], w.dilations[d], w.strides[d],
        w.input[d]);
    place += weft::format(" + q{} / {} * {}", d, w.strides[d], in_strides[d]);
    tap += weft::format(" + k{} * {}", d, k_strides[d]);
    close += "  }\n";
  }
  body += weft::format(
      "  for (var c = 0u; c < {0}u; c++) {{\n  let channel_in = group * {0}u + c;\n"
      "  sum += {1}[(image * {2}u + channel_in) * {3}u + u32({4})] * {5}[(channel_in * {6}u + "
      "channel % {6}u) "
      "* "
      "{7}u + u32({8})];\n  }}\n",
      plan->channels_in, in, plan->groups * plan->channels_in, in_plane, place, factors,
      plan->channels_out, taps, tap);
  body += close + weft::format("  {}[i] = sum;\n", to);
  return std::vector{
      text.build(node.op, static_cast<std::uint64_t>(element_count(plan->output)), body)};
}

// Returns kernels of resizing. The taps of each dimension that changes are in two buffers: one
// buffer holds places and weights, the other buffer holds the start of each output's taps.
MaybeKernels resize_kernels(const Node& node, const Call& call) {
  const Tensor& x = call.input(0);
  if (!is_float(x.type())) return std::nullopt;
  const auto plan = plan_resize(call);
  if (!plan || element_count(plan->output) == 0) return std::nullopt;
  const std::size_t rank = plan->output.size();
  const Shape own = row_major_strides(x.shape()), outer = row_major_strides(plan->output);
  KernelText text;
  const std::string in = text.input(node.inputs[0], x.type());
  const std::string to = text.output(node.outputs[0], x.type());
  std::string body = "  var sum = 0.0;\n  var outside = false;\n";
  std::string from = "0u", weight = "1.0", loops, close;
  for (std::size_t d = 0; d < rank; ++d) {
    const Taps& taps = plan->dimensions[d];
    bool same = plan->output[d] == x.shape()[d];
    for (std::size_t i = 0; same && i < taps.size(); ++i)
      same = taps[i].size() == 1 && taps[i][0].place == static_cast<std::int64_t>(i) &&
             taps[i][0].weight == 1;
    const std::string at = weft::format("i / {}u % {}u", outer[d], plan->output[d]);
    if (same) {
      from += weft::format(" + {} * {}u", at, own[d]);
      continue;
    }
    // A dimension that repeats each element a whole number of times needs no table.
    const std::int64_t times = plan->output[d] / std::max<std::int64_t>(1, x.shape()[d]);
    bool repeats = times * x.shape()[d] == plan->output[d];
    for (std::size_t i = 0; repeats && i < taps.size(); ++i)
      repeats = taps[i].size() == 1 && taps[i][0].weight == 1 &&
                taps[i][0].place == static_cast<std::int64_t>(i) / times;
    if (repeats) {
      from += weft::format(" + {} / {}u * {}u", at, times, own[d]);
      continue;
    }
    if (text.input_count() > 5) return std::nullopt;
    auto starts = std::make_shared<Words>();
    auto entries = std::make_shared<Words>();
    for (const std::vector<Tap>& here : taps) {
      starts->push_back(static_cast<std::uint32_t>(entries->size() / 2));
      for (const Tap& tap : here) {
        entries->push_back(static_cast<std::uint32_t>(tap.place));
        entries->push_back(std::bit_cast<std::uint32_t>(tap.weight));
      }
    }
    starts->push_back(static_cast<std::uint32_t>(entries->size() / 2));
    if (entries->empty()) entries->push_back(0);
    const std::string first = text.input({.value = no_value, .data = starts}, ElementType::u32);
    const std::string list = text.input({.value = no_value, .data = entries}, ElementType::u32);
    body += weft::format(
        "  let t{0} = {1};\n  if ({2}[t{0}] == {2}[t{0} + 1u]) {{ outside = true; }}\n", d, at,
        first);
    loops +=
        weft::format("  for (var k{0} = {1}[t{0}]; k{0} < {1}[t{0} + 1u]; k{0}++) {{\n", d, first);
    from += weft::format(" + {}[2u * k{}] * {}u", list, d, own[d]);
    weight += weft::format(" * bitcast<f32>({}[2u * k{} + 1u])", list, d);
    close += "  }\n";
  }
  body += loops + weft::format("  sum += {}[{}] * {};\n", in, from, weight) + close;
  body += weft::format("  {}[i] = select(sum, bitcast<f32>({}u), outside);\n", to,
                       std::bit_cast<std::uint32_t>(plan->extrapolation));
  return std::vector{
      text.build(node.op, static_cast<std::uint64_t>(element_count(plan->output)), body)};
}

}  // namespace

MaybeKernels window_kernels(const KernelContext& context, const Node& node,
                            const Epilogue& epilogue) {
  const CallOf made(context, node);
  const Call& call = *made;
  if (node.op == "Conv") return convolution_kernels(context, node, call, epilogue);
  if (!epilogue.nodes.empty()) return std::nullopt;
  if (node.op == "ConvTranspose") return transposed_kernels(node, call);
  if (node.op == "Resize" || node.op == "Upsample") return resize_kernels(node, call);
  return std::nullopt;
}

}  // namespace weft::onnx
