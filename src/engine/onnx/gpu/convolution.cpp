#include "engine/onnx/gpu/convolution.h"

#include <algorithm>

#include "engine/onnx/gpu/convolution_choices.h"
#include "engine/onnx/gpu/convolution_matrices.h"
#include "engine/onnx/gpu/convolution_parts.h"
#include "engine/onnx/gpu/convolution_rows.h"
#include "engine/onnx/gpu/window_text.h"
#include "engine/onnx/operators/walk.h"

namespace weft::onnx {
namespace {

// The number of threads that keeps a large GPU busy.
constexpr std::int64_t threads_wanted = 1 << 16;
constexpr std::int64_t slices_max = 16;

// Kernels with one thread for each result, for depthwise convolutions, few channels, and weights
// that are known only to a run.
MaybeKernels direct_kernels(const KernelContext& context, const Node& node, const Call& call,
                            const ConvolutionPlan& plan, const Epilogue& epilogue) {
  const Tensor &x = call.input(0), &weights = call.input(1);
  const Window& w = plan.window;
  const std::int64_t in_plane = element_count(w.input), out_plane = element_count(w.output);
  KernelText text;
  const std::string in = text.input(node.inputs[0], x.type());
  const std::string factors = text.input(node.inputs[1], weights.type());
  const Tensor* bias = call.optional_input(2);
  const std::string added =
      bias == nullptr ? "0.0" : text.input(node.inputs[2], bias->type()) + "[channel]";
  std::string body = weft::format(
      "  let at = i % {0}u;\n  let channel = i / {0}u % {1}u;\n  let image = i / {2}u;\n"
      "  let input_base = (image * {3}u + channel / {4}u) * {5}u;\n  var sum = {6};\n",
      out_plane, plan.output[1], out_plane * plan.output[1], plan.groups, plan.channels_out,
      plan.channels_in * in_plane, added);
  body += window_loops(
      w,
      weft::format("  for (var c = 0u; c < {0}u; c++) {{ sum += {1}[input_base + c * {2}u + place] "
                   "* {3}[(channel * {0}u + c) * {4}u + tap]; }}\n",
                   plan.channels_in, in, in_plane, factors, element_count(w.kernel)));
  const auto result = apply_chain(context, epilogue, node.outputs[0], "sum", "i", text, body);
  if (!result) return std::nullopt;
  const ValueId last = last_output(node, epilogue);
  body += weft::format("  {}[i] = {};\n", text.output(last, context.tensor(last).type()), *result);
  return std::vector{text.build(convolution_label(node, epilogue),
                                static_cast<std::uint64_t>(element_count(plan.output)), body)};
}

// Returns loops over the taps. For each place `at_J` they set `place_J` and `inside_J`, and run
// `inside`.
std::string tap_loops(const Window& w, std::int64_t places, std::string_view inside) {
  const Shape in = row_major_strides(w.input), out = row_major_strides(w.output),
              k = row_major_strides(w.kernel);
  std::string text, close, tap = "0u";
  for (std::int64_t j = 0; j < places; ++j)
    for (std::size_t d = 0; d < w.kernel.size(); ++d)
      text += weft::format("  let base{0}_{1} = i32(at_{1} / {2}u % {3}u) * {4} - {5};\n", d, j,
                           out[d], w.output[d], w.strides[d], w.pads_before[d]);
  for (std::size_t d = 0; d < w.kernel.size(); ++d) {
    text += weft::format("  for (var k{0} = 0; k{0} < {1}; k{0}++) {{\n", d, w.kernel[d]);
    tap += weft::format(" + u32(k{}) * {}u", d, k[d]);
    close += "  }\n";
  }
  text += weft::format("  let tap = {};\n", tap);
  for (std::int64_t j = 0; j < places; ++j) {
    std::string place = "0", fits = "true";
    for (std::size_t d = 0; d < w.kernel.size(); ++d) {
      text += weft::format("  let p{0}_{1} = base{0}_{1} + k{0} * {2};\n", d, j, w.dilations[d]);
      fits += weft::format(" && p{0}_{1} >= 0 && p{0}_{1} < {2}", d, j, w.input[d]);
      place += weft::format(" + p{}_{} * {}", d, j, in[d]);
    }
    text += weft::format(
        "  let inside_{0} = {1};\n  let place_{0} = select(0u, u32({2}), inside_{0});\n", j, fits,
        place);
  }
  text.append(inside);
  return text + close;
}

// True if each result depends only on the input place with the same index.
bool reads_in_order(const Window& w) {
  return element_count(w.kernel) == 1 && w.input == w.output &&
         std::ranges::all_of(w.strides, [](std::int64_t stride) { return stride == 1; }) &&
         std::ranges::all_of(w.pads_before, [](std::int64_t pad) { return pad == 0; });
}
// Returns statements that set the variables of tap_loops() for a window with reads_in_order().
// Places after the last place of the input read the last place.
std::string places_in_order(std::int64_t in_plane, std::int64_t places) {
  std::string text = "  let tap = 0u;\n";
  for (std::int64_t j = 0; j < places; ++j)
    text += weft::format("  let inside_{0} = true;\n  let place_{0} = min(at_{0}, {1}u);\n", j,
                         in_plane - 1);
  return text;
}

// Returns loops over input channels that load the inputs of several channels before they compute
// with them, so that a thread waits for all of these loads at once. The order of additions stays
// the same.
std::string channel_loops(const ConvolutionPlan& plan, const ConvolutionTiles& tiles,
                          std::int64_t taps, const std::string& in, const std::string& factors) {
  constexpr std::int64_t loads_max = 32;
  const std::int64_t in_plane = element_count(plan.window.input), quads = tiles.channels / 4;
  const auto loop = [&](std::int64_t together, std::string_view begin) {
    std::string text =
        weft::format("  for ({0}; c + {1}u < {2}u; c += {3}u) {{\n", begin,
                     (together - 1) * tiles.slices, plan.channels_in, together * tiles.slices);
    for (std::int64_t u = 0; u < together; ++u) {
      text += weft::format("  let w{0} = ((block * {1}u + tap) * {2}u + c + {3}u) * {4}u;\n", u,
                           taps, plan.channels_in, u * tiles.slices, quads);
      for (std::int64_t q = 0; q < quads; ++q)
        text += weft::format("  let w{0}_{1} = {2}[w{0} + {1}u];\n", u, q, factors);
      for (std::int64_t j = 0; j < tiles.places; ++j)
        text += weft::format(
            "  let v{0}_{1} = select(0.0, {2}[input_base + (c + {3}u) * {4}u + place_{1}], "
            "inside_{1});\n",
            u, j, in, u * tiles.slices, in_plane);
    }
    for (std::int64_t u = 0; u < together; ++u)
      for (std::int64_t j = 0; j < tiles.places; ++j)
        for (std::int64_t q = 0; q < quads; ++q)
          text += weft::format("  sum_{1}_{2} += v{0}_{1} * w{0}_{2};\n", u, j, q);
    return text + "  }\n";
  };
  std::int64_t together = 1;
  const std::int64_t rounds = plan.channels_in / tiles.slices;
  while (together < 4 && together + 1 <= rounds &&
         (together + 1) * (tiles.places + quads) <= loads_max)
    ++together;
  if (together == 1) return loop(1, "var c = slice");
  std::string text = "  {\n  var c = slice;\n" + loop(together, "");
  if (plan.channels_in % (together * tiles.slices) != 0) text += loop(1, "");
  return text + "  }\n";
}

MaybeKernels tiled_kernels(const KernelContext& context, const Node& node, const Call& call,
                           const ConvolutionPlan& plan, const ConvolutionTiles& tiles,
                           const Epilogue& epilogue) {
  const Tensor &x = call.input(0), &weights = call.input(1);
  const auto words = storage_of(weights);
  if (!words) return std::nullopt;
  const Window& w = plan.window;
  const std::int64_t taps = element_count(w.kernel), in_plane = element_count(w.input),
                     out_plane = element_count(w.output);
  const std::int64_t blocks = (plan.channels_out + tiles.channels - 1) / tiles.channels;
  const std::int64_t units = (out_plane + tiles.places - 1) / tiles.places;
  const std::int64_t total = plan.batch * plan.groups * blocks * units;
  const std::int64_t per_group = convolution_lanes / tiles.slices, quads = tiles.channels / 4;
  const std::int64_t sums = tiles.places * tiles.channels;
  KernelText text;
  const std::string in = text.input(node.inputs[0], x.type());
  const std::string factors = text.input(
      KernelInput{.value = no_value, .data = packed_weights(plan, *words, tiles.channels)},
      "vec4f");
  // If the last workgroup has more threads than units of work, the extra threads compute the last
  // unit again and do not store it.
  std::string body = weft::format(
      "  let slice = lane / {0}u;\n  let own = group * {0}u + lane % {0}u;\n"
      "  let number = min(own, {1}u);\n  let unit = number % {2}u;\n"
      "  let block = number / {2}u % {3}u;\n  let image = number / {4}u;\n"
      "  let input_base = (image * {5}u + block / {6}u) * {7}u;\n",
      per_group, total - 1, units, plan.groups * blocks, units * plan.groups * blocks, plan.groups,
      blocks, plan.channels_in * in_plane);
  for (std::int64_t j = 0; j < tiles.places; ++j) {
    body += weft::format("  let at_{0} = unit + {1}u;\n", j, j * units);
    for (std::int64_t q = 0; q < quads; ++q)
      body += weft::format("  var sum_{}_{} = vec4f(0.0);\n", j, q);
  }
  const std::string inner = channel_loops(plan, tiles, taps, in, factors);
  body += reads_in_order(w) ? places_in_order(in_plane, tiles.places) + inner
                            : tap_loops(w, tiles.places, inner);
  for (std::int64_t j = 0; j < tiles.places; ++j)
    for (std::int64_t q = 0; q < quads; ++q)
      for (std::int64_t t = 0; t < 4; ++t)
        body += weft::format("  parts[{}u + lane] = sum_{}_{}[{}];\n",
                             ((j * quads + q) * 4 + t) * convolution_lanes, j, q, t);
  // Each slice computes the final sums of a part of the unit's results.
  body += weft::format(
      "  workgroupBarrier();\n  if (own > {0}u) {{ return; }}\n"
      "  for (var r = slice; r < {1}u; r += {2}u) {{\n"
      "  let at = unit + r / {3}u * {4}u;\n  let channel = block % {5}u * {3}u + r % {3}u;\n"
      "  if (at >= {6}u || channel >= {7}u) {{ continue; }}\n"
      "  var total = 0.0;\n  for (var s = 0u; s < {2}u; s++) {{ total += parts[r * {8}u + s * {9}u "
      "+ lane % {9}u]; }}\n"
      "  let place_out = (block / {5}u * {7}u + channel);\n"
      "  let o = (image * {10}u + place_out) * {6}u + at;\n",
      total - 1, sums, tiles.slices, tiles.channels, units, blocks, out_plane, plan.channels_out,
      convolution_lanes, per_group, plan.output[1]);
  const auto results = result_text(context, node, call, epilogue, text);
  if (!results) return std::nullopt;
  body += *results + "  }\n";
  return std::vector{text.build_groups(
      convolution_label(node, epilogue),
      static_cast<std::uint64_t>((total + per_group - 1) / per_group),
      weft::format("var<workgroup> parts: array<f32, {}>;\n", sums * convolution_lanes), body)};
}

}  // namespace

ConvolutionTiles convolution_tiles(std::int64_t outputs, std::int64_t channels_in,
                                   std::int64_t channels_out) {
  ConvolutionTiles tiles;
  tiles.channels = channels_out >= 8 ? 8 : 4;
  const std::int64_t blocks = (channels_out + tiles.channels - 1) / tiles.channels;
  // A thread computes several places if enough threads remain, because weights that it reads serve
  // all of its places.
  for (const std::int64_t places : {4, 2})
    if (tiles.places == 1 && outputs * blocks / places >= threads_wanted / 4) tiles.places = places;
  while (tiles.slices < slices_max && channels_in >= tiles.slices * 8 &&
         outputs * blocks / tiles.places * tiles.slices < threads_wanted)
    tiles.slices *= 2;
  return tiles;
}

namespace {

bool can_be_cut_into_matrices(const ConvolutionTiles& tiles) {
  const auto is_side = [](std::int64_t size) {
    return size == 16 || size == 32 || size == 64 || size == 128;
  };
  constexpr std::int64_t depth_max = 512;
  return is_side(tiles.places) && is_side(tiles.channels) && !tiles.rows && tiles.depth >= 16 &&
         tiles.depth <= depth_max && tiles.depth % 16 == 0 &&
         (tiles.slices == 1 || tiles.slices == 2 || tiles.slices == 4 || tiles.slices == 8) &&
         tiles.depth % (16 * tiles.slices) == 0;
}

}  // namespace

bool can_be_cut(const ConvolutionTiles& tiles) {
  if (tiles.depth != 0) return can_be_cut_into_matrices(tiles);
  constexpr std::int64_t sums_max = 64;  // The sums of 64 threads take 16 KiB.
  return tiles.places >= 1 &&
         (tiles.channels == 4 || tiles.channels == 8 || tiles.channels == 16) &&
         tiles.slices >= 1 && tiles.slices <= convolution_lanes &&
         convolution_lanes % tiles.slices == 0 && tiles.places <= sums_max / tiles.channels &&
         (!tiles.rows || tiles.places % 4 == 0);
}

MaybeKernels convolution_kernels(const KernelContext& context, const Node& node, const Call& call,
                                 const Epilogue& epilogue) {
  const Tensor &x = call.input(0), &weights = call.input(1);
  if (!is_float(x.type())) return std::nullopt;
  const auto plan = plan_convolution(call, x, weights);
  if (!plan || element_count(plan->output) == 0) return std::nullopt;
  if (!weights.has_bytes() || plan->channels_out < 4)
    return direct_kernels(context, node, call, *plan, epilogue);
  const std::int64_t outputs = plan->batch * plan->groups * element_count(plan->window.output);
  std::optional<ConvolutionTiles> tiles;
  if (context.choices != nullptr)
    tiles = context.choices->find(ConvolutionChoices::key_of(*plan, context.halves));
  if (tiles && tiles->depth > 0 && context.matrices != nullptr &&
      can_be_in_matrices(*plan, *context.matrices, *tiles))
    if (auto kernels = convolution_matrices(context, node, call, *plan, *tiles, epilogue))
      return kernels;
  if (tiles && tiles->rows && can_be_in_rows(*plan))
    return convolution_rows(context, node, call, *plan, *tiles, epilogue);
  if (!tiles || tiles->rows || tiles->depth > 0)
    tiles = convolution_tiles(outputs, plan->channels_in, plan->channels_out);
  return tiled_kernels(context, node, call, *plan, *tiles, epilogue);
}

}  // namespace weft::onnx
