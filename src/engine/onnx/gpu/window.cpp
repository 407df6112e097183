// Kernels of convolutions, pooling and resizing.
#include "engine/onnx/operators/window.h"

#include <algorithm>
#include <bit>

#include "engine/onnx/gpu/kernel.h"
#include "engine/onnx/operators/resize.h"
#include "engine/onnx/operators/walk.h"

namespace weft::onnx {
namespace {

using Words = std::vector<std::uint32_t>;

// The loops over a kernel's spatial places: sets `place`, the input's element in its plane, from
// the output's spatial place `at`, and runs `inside` where it lies in the input.
std::string window_loops(const Window& w, std::string_view inside) {
  std::string text, close;
  const Shape in = row_major_strides(w.input), out = row_major_strides(w.output);
  std::string place = "0", kernel = "0u";
  for (std::size_t d = 0; d < w.kernel.size(); ++d) {
    text += weft::format("  let base{0} = i32(at / {1}u % {2}u) * {3} - {4};\n", d, out[d],
                         w.output[d], w.strides[d], w.pads_before[d]);
  }
  const Shape k = row_major_strides(w.kernel);
  for (std::size_t d = 0; d < w.kernel.size(); ++d) {
    text += weft::format(
        "  for (var k{0} = 0; k{0} < {1}; k{0}++) {{\n  let p{0} = base{0} + k{0} * {2};\n"
        "  if (p{0} < 0 || p{0} >= {3}) {{ continue; }}\n",
        d, w.kernel[d], w.dilations[d], w.input[d]);
    place += weft::format(" + p{} * {}", d, in[d]);
    kernel += weft::format(" + u32(k{}) * {}u", d, k[d]);
    close += "  }\n";
  }
  text += weft::format("  let place = u32({});\n  let tap = {};\n", place, kernel);
  text.append(inside);
  return text + close;
}

// Each thread computes `tile` output channels of one place, so that what it reads of the input
// serves several sums. Weights lie as [group][block of channels][channel in][tap][channel of the
// block].
MaybeKernels convolution_kernels(const KernelContext& context, const Node& node, const Call& call,
                                 const Epilogue& epilogue) {
  const Tensor &x = call.input(0), &weights = call.input(1);
  if (!is_float(x.type())) return std::nullopt;
  const auto plan = plan_convolution(call, x, weights);
  if (!plan || element_count(plan->output) == 0) return std::nullopt;
  const Window& w = plan->window;
  const std::int64_t taps = element_count(w.kernel), in_plane = element_count(w.input),
                     out_plane = element_count(w.output);
  std::int64_t tile = 1;
  if (weights.has_bytes())
    for (const std::int64_t candidate : {8, 4, 2})
      if (tile == 1 && plan->channels_out % candidate == 0) tile = candidate;
  const std::int64_t blocks = plan->channels_out / tile;
  KernelText text;
  const std::string in = text.input(node.inputs[0], x.type());
  std::string factors;
  if (weights.has_bytes() && tile > 1) {
    const auto words = storage_of(weights);
    if (!words) return std::nullopt;
    auto packed = std::make_shared<Words>();
    packed->reserve(words->size());
    for (std::int64_t b = 0; b < plan->groups * blocks; ++b)
      for (std::int64_t ct = 0; ct < plan->channels_in * taps; ++ct)
        for (std::int64_t t = 0; t < tile; ++t)
          packed->push_back(
              (*words)[static_cast<std::size_t>((b * tile + t) * plan->channels_in * taps + ct)]);
    factors = text.input(KernelInput{.value = no_value, .data = packed}, weights.type());
  } else {
    factors = text.input(node.inputs[1], weights.type());
  }
  std::string body = weft::format(
      "  let at = i % {0}u;\n  let block = i / {0}u % {1}u;\n  let image = i / {2}u;\n"
      "  let input_base = (image * {3}u + block / {4}u) * {5}u;\n",
      out_plane, plan->groups * blocks, out_plane * plan->groups * blocks, plan->groups, blocks,
      plan->channels_in * in_plane);
  const Tensor* bias = call.optional_input(2);
  const std::string added = bias == nullptr ? "" : text.input(node.inputs[2], bias->type());
  for (std::int64_t t = 0; t < tile; ++t)
    body += bias == nullptr
                ? weft::format("  var sum{} = 0.0;\n", t)
                : weft::format("  var sum{0} = {1}[block * {2}u + {0}u];\n", t, added, tile);
  std::string inner = weft::format(
      "  for (var c = 0u; c < {0}u; c++) {{\n  let value = {1}[input_base + c * {2}u + place];\n"
      "  let w = ((block * {0}u + c) * {3}u + tap) * {4}u;\n",
      plan->channels_in, in, in_plane, taps, tile);
  for (std::int64_t t = 0; t < tile; ++t)
    inner += weft::format("  sum{0} += value * {1}[w + {0}u];\n", t, factors);
  inner += "  }\n";
  body += window_loops(w, inner);
  const ValueId last = epilogue.nodes.empty() ? node.outputs[0] : epilogue.nodes.back()->outputs[0];
  std::string label = node.op;
  for (const Node* next : epilogue.nodes) label += "+" + next->op;
  std::string stores;
  for (std::int64_t t = 0; t < tile; ++t) {
    stores += weft::format("  let o{0} = (image * {1}u + block * {2}u + {0}u) * {3}u + at;\n", t,
                           plan->output[1], tile, out_plane);
    const auto result = apply_chain(context, epilogue, node.outputs[0], weft::format("sum{}", t),
                                    weft::format("o{}", t), text, stores);
    if (!result) return std::nullopt;
    stores += weft::format("  y0[o{}] = {};\n", t, *result);
  }
  (void)text.output(last, context.tensor(last).type());
  body += stores;
  return std::vector{text.build(
      std::move(label), static_cast<std::uint64_t>(plan->batch * plan->groups * blocks * out_plane),
      body)};
}

// Each output element gathers what the input's elements would scatter to it.
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

MaybeKernels pool_kernels(const KernelContext& context, const Node& node, const Call& call) {
  const Tensor& x = call.input(0);
  const auto window = plan_pool(call, x);
  if (!window || node.outputs.size() > 1) return std::nullopt;
  const bool average = node.op == "AveragePool";
  if (!is_float(x.type())) return std::nullopt;
  const Tensor& out = context.tensor(node.outputs[0]);
  if (out.count() == 0) return std::nullopt;
  const bool with_padding = call.integer("count_include_pad", 0) != 0;
  KernelText text;
  const std::string in = text.input(node.inputs[0], x.type());
  const std::string to = text.output(node.outputs[0], x.type());
  std::string body = weft::format("  let at = i % {}u;\n  let base = i / {}u * {}u;\n",
                                  element_count(window->output), element_count(window->output),
                                  element_count(window->input));
  if (average) {
    body += "  var sum = 0.0;\n  var count = 0.0;\n";
    body +=
        window_loops(*window, weft::format("  sum += {}[base + place];\n  count += 1.0;\n", in));
    if (with_padding) {  // Places in the padding count; those beyond it do not.
      body += "  count = 1.0;\n";
      const Shape strides = row_major_strides(window->output);
      for (std::size_t d = 0; d < window->kernel.size(); ++d)
        body += weft::format(
            "  {{ var here = 0.0; for (var k = 0; k < {0}; k++) {{ if (i32(at / {1}u % {2}u) * {3} "
            "- {4} + k * {5} < {6}) {{ here += 1.0; }} }} count *= here; }}\n",
            window->kernel[d], strides[d], window->output[d], window->strides[d],
            window->pads_before[d], window->dilations[d], window->input[d] + window->pads_after[d]);
    }
    body += weft::format("  {}[i] = select(sum / count, 0.0, count == 0.0);\n", to);
  } else {
    body += "  var largest = bitcast<f32>(0xff7fffffu);\n";
    body +=
        window_loops(*window, weft::format("  largest = max(largest, {}[base + place]);\n", in));
    body += weft::format("  {}[i] = largest;\n", to);
  }
  return std::vector{text.build(node.op, static_cast<std::uint64_t>(out.count()), body)};
}

// Taps of each dimension that changes lie in two buffers: places with weights, and where each
// output's taps begin.
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
  std::vector<const Tensor*> inputs;
  for (std::size_t i = 0; i < node.inputs.size(); ++i)
    inputs.push_back(context.optional_tensor(node, i));
  const Call call(node, inputs, {.opset = context.graph.opset, .shapes_only = true});
  if (node.op == "Conv") return convolution_kernels(context, node, call, epilogue);
  if (!epilogue.nodes.empty()) return std::nullopt;
  if (node.op == "ConvTranspose") return transposed_kernels(node, call);
  if (node.op == "AveragePool" || node.op == "MaxPool") return pool_kernels(context, node, call);
  if (node.op == "Resize" || node.op == "Upsample") return resize_kernels(node, call);
  return std::nullopt;
}

}  // namespace weft::onnx
