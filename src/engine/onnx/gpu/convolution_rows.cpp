#include "engine/onnx/gpu/convolution_rows.h"

#include <algorithm>

#include "engine/onnx/gpu/convolution_parts.h"
#include "engine/onnx/operators/walk.h"

namespace weft::onnx {
namespace {

// The sizes of a two-dimensional convolution that is computed by rows.
struct RowPlan {
  std::int64_t height = 0, width = 0;  // Size of the input.
  std::int64_t out_height = 0, out_width = 0;
  std::int64_t kernel_height = 1, kernel_width = 1;
  std::int64_t stride_y = 1, stride = 1;  // Strides down and along rows.
  std::int64_t dilation_y = 1;
  std::int64_t pad_y = 0, pad = 0;  // Pads above and before rows.
  // The number of groups of four neighbours in one row of the output.
  [[nodiscard]] std::int64_t runs_of_row() const { return (out_width + 3) / 4; }
  [[nodiscard]] std::int64_t runs() const { return runs_of_row() * out_height; }
  // The range of input columns that one group reads, relative to its first output column times the
  // stride.
  [[nodiscard]] std::int64_t first_column() const { return -pad; }
  [[nodiscard]] std::int64_t last_column() const { return 3 * stride + kernel_width - 1 - pad; }
};

constexpr std::int64_t taps_of_row_max = 7;

// Divides a column by four and rounds down, also for negative columns.
std::int64_t quad_of(std::int64_t column) { return column >= 0 ? column / 4 : -((3 - column) / 4); }

bool is_each_by_itself(const Window& w) {
  return element_count(w.kernel) == 1 && w.input == w.output &&
         std::ranges::all_of(w.strides, [](std::int64_t stride) { return stride == 1; }) &&
         std::ranges::all_of(w.pads_before, [](std::int64_t pad) { return pad == 0; });
}

std::optional<RowPlan> row_plan(const Window& w) {
  if (is_each_by_itself(w)) {  // The whole plane counts as one row.
    const std::int64_t plane = element_count(w.input);
    if (plane == 0 || plane % 4 != 0) return std::nullopt;
    return RowPlan{.height = 1, .width = plane, .out_height = 1, .out_width = plane};
  }
  if (w.kernel.size() != 2 || w.dilations[1] != 1 || w.strides[1] > 2 || w.input[1] % 4 != 0 ||
      w.kernel[1] > taps_of_row_max || w.pads_before[1] >= w.kernel[1] ||
      element_count(w.input) == 0)
    return std::nullopt;
  return RowPlan{.height = w.input[0],
                 .width = w.input[1],
                 .out_height = w.output[0],
                 .out_width = w.output[1],
                 .kernel_height = w.kernel[0],
                 .kernel_width = w.kernel[1],
                 .stride_y = w.strides[0],
                 .stride = w.strides[1],
                 .dilation_y = w.dilations[0],
                 .pad_y = w.pads_before[0],
                 .pad = w.pads_before[1]};
}

std::string quad_name(std::int64_t run, std::int64_t quad) {
  return weft::format("{}_{}", run, quad < 0 ? "m" + std::to_string(-quad) : std::to_string(quad));
}

class RowText {
 public:
  RowText(const ConvolutionPlan& plan, const RowPlan& rows, const ConvolutionTiles& tiles)
      : plan_(plan), rows_(rows), tiles_(tiles) {}

  // Returns statements that compute the position of each group of four and check which of its
  // columns are inside the row.
  [[nodiscard]] std::string places() const {
    std::string text;
    const std::int64_t units = this->units();
    for (std::int64_t j = 0; j < runs_of_thread(); ++j) {
      text += weft::format(
          "  let run_{0} = min(unit + {1}u, {2}u);\n"
          "  let top_{0} = i32(run_{0} / {3}u) * {4} - {5};\n"
          "  let left_{0} = i32(run_{0} % {3}u) * {6};\n",
          j, j * units, rows_.runs() - 1, rows_.runs_of_row(), rows_.stride_y, rows_.pad_y,
          rows_.stride);
      for (std::int64_t quad = first_quad(); quad <= last_quad(); ++quad)
        text += weft::format(
            "  let fits_{0} = left_{1} + {2} >= 0 && left_{1} + {2} < {3};\n"
            "  let column_{0} = select(0u, u32(left_{1} + {2}), fits_{0});\n",
            quad_name(j, quad), j, quad, rows_.width / 4);
    }
    for (std::int64_t p = 0; p < tiles_.places; ++p)
      for (std::int64_t q = 0; q < quads(); ++q)
        text += weft::format("  var sum_{}_{} = vec4f(0.0);\n", p, q);
    return text;
  }

  // Returns the loops over rows of the kernel and over channels. `in` and `factors` are arrays of
  // vec4f.
  [[nodiscard]] std::string loops(const std::string& in, const std::string& factors) const {
    std::string text = weft::format("  for (var k = 0; k < {}; k++) {{\n", rows_.kernel_height);
    for (std::int64_t j = 0; j < runs_of_thread(); ++j) {
      text += weft::format(
          "  let y_{0} = top_{0} + k * {1};\n  let has_{0} = y_{0} >= 0 && y_{0} < {2};\n"
          "  let row_{0} = select(0u, u32(y_{0}), has_{0}) * {3}u;\n",
          j, rows_.dilation_y, rows_.height, rows_.width / 4);
      for (std::int64_t quad = first_quad(); quad <= last_quad(); ++quad) {
        const std::string name = quad_name(j, quad);
        text += weft::format(
            "  let place_{0} = row_{1} + column_{0};\n  let inside_{0} = has_{1} && fits_{0};\n",
            name, j);
      }
    }
    return text + channels(in, factors) + "  }\n";
  }

  // runs_of_thread() is the number of groups of four that one thread computes; units() is the
  // number of threads that compute all groups of a plane.
  [[nodiscard]] std::int64_t runs_of_thread() const { return tiles_.places / 4; }
  [[nodiscard]] std::int64_t units() const {
    return (rows_.runs() + runs_of_thread() - 1) / runs_of_thread();
  }

 private:
  [[nodiscard]] std::int64_t quads() const { return tiles_.channels / 4; }
  [[nodiscard]] std::int64_t first_quad() const { return quad_of(rows_.first_column()); }
  [[nodiscard]] std::int64_t last_quad() const { return quad_of(rows_.last_column()); }

  // The number of channels that are loaded at a time, so that a thread has enough registers.
  [[nodiscard]] std::int64_t channels_together() const {
    constexpr std::int64_t loaded_max = 40;
    const std::int64_t loaded = runs_of_thread() * (last_quad() - first_quad() + 1) * 2 +
                                rows_.kernel_width * tiles_.channels / 2;
    const std::int64_t rounds = plan_.channels_in / tiles_.slices;
    return std::clamp<std::int64_t>(loaded_max / loaded, 1, std::clamp<std::int64_t>(rounds, 1, 4));
  }

  [[nodiscard]] std::string channels(const std::string& in, const std::string& factors) const {
    const std::int64_t together = channels_together();
    std::string text = "  {\n  var c = slice;\n" + channel_loop(together, in, factors);
    if (together > 1 && plan_.channels_in % (together * tiles_.slices) != 0)
      text += channel_loop(1, in, factors);
    return text + "  }\n";
  }

  [[nodiscard]] std::string channel_loop(std::int64_t together, const std::string& in,
                                         const std::string& factors) const {
    const std::int64_t taps = rows_.kernel_height * rows_.kernel_width;
    std::string text =
        weft::format("  for (; c + {}u < {}u; c += {}u) {{\n", (together - 1) * tiles_.slices,
                     plan_.channels_in, together * tiles_.slices);
    for (std::int64_t u = 0; u < together; ++u) {
      text += weft::format(
          "  let channel_{0} = c + {1}u;\n  let plane_{0} = input_base + channel_{0} "
          "* {2}u;\n",
          u, u * tiles_.slices, rows_.height * rows_.width / 4);
      for (std::int64_t j = 0; j < runs_of_thread(); ++j)
        for (std::int64_t quad = first_quad(); quad <= last_quad(); ++quad)
          text += load(u, j, quad, in);
      for (std::int64_t tap = 0; tap < rows_.kernel_width; ++tap)
        for (std::int64_t q = 0; q < quads(); ++q)
          text += weft::format(
              "  let w{0}_{1}_{2} = {3}[((block * {4}u + u32(k) * {5}u + {1}u) * {6}u + "
              "channel_{0}) "
              "* {7}u + {2}u];\n",
              u, tap, q, factors, taps, rows_.kernel_width, plan_.channels_in, quads());
    }
    for (std::int64_t u = 0; u < together; ++u)
      for (std::int64_t tap = 0; tap < rows_.kernel_width; ++tap)
        for (std::int64_t p = 0; p < tiles_.places; ++p)
          for (std::int64_t q = 0; q < quads(); ++q)
            text +=
                weft::format("  sum_{}_{} += {} * w{}_{}_{};\n", p, q,
                             number(u, p / 4, p % 4 * rows_.stride + tap - rows_.pad), u, tap, q);
    return text + "  }\n";
  }

  // Returns the only column of a quad that is needed, or nullopt if several columns are needed.
  [[nodiscard]] std::optional<std::int64_t> only_column(std::int64_t quad) const {
    const std::int64_t first = std::max(rows_.first_column(), quad * 4),
                       last = std::min(rows_.last_column(), quad * 4 + 3);
    return first == last ? std::optional(first - quad * 4) : std::nullopt;
  }
  [[nodiscard]] std::string load(std::int64_t u, std::int64_t run, std::int64_t quad,
                                 const std::string& in) const {
    const std::string name = quad_name(run, quad);
    const auto only = only_column(quad);
    return weft::format(
        "  let v{0}_{1} = select({2}, {3}[plane_{0} + place_{1}]{4}, inside_{1});\n", u, name,
        only ? "0.0" : "vec4f(0.0)", in, only ? weft::format("[{}]", *only) : "");
  }
  [[nodiscard]] std::string number(std::int64_t u, std::int64_t run, std::int64_t column) const {
    const std::int64_t quad = quad_of(column);
    const std::string name = weft::format("v{}_{}", u, quad_name(run, quad));
    return only_column(quad) ? name : weft::format("{}[{}]", name, column - quad * 4);
  }

  const ConvolutionPlan& plan_;
  const RowPlan& rows_;
  const ConvolutionTiles& tiles_;
};

}  // namespace

bool can_be_in_rows(const ConvolutionPlan& plan) { return row_plan(plan.window).has_value(); }

MaybeKernels convolution_rows(const KernelContext& context, const Node& node, const Call& call,
                              const ConvolutionPlan& plan, const ConvolutionTiles& tiles,
                              const Epilogue& epilogue) {
  const auto words = storage_of(call.input(1));
  const auto rows = row_plan(plan.window);
  if (!words || !rows) return std::nullopt;
  const RowText row_text(plan, *rows, tiles);
  const std::int64_t blocks = (plan.channels_out + tiles.channels - 1) / tiles.channels;
  const std::int64_t units = row_text.units(), all_blocks = plan.groups * blocks;
  const std::int64_t total = plan.batch * all_blocks * units;
  const std::int64_t per_group = convolution_lanes / tiles.slices, quads = tiles.channels / 4;
  const std::int64_t sums = tiles.places * tiles.channels;
  KernelText text;
  const std::string in = text.input(KernelInput{.value = node.inputs[0]}, "vec4f");
  const std::string factors = text.input(
      KernelInput{.value = no_value, .data = packed_weights(plan, *words, tiles.channels)},
      "vec4f");
  // If the last workgroup has more threads than units of work, the extra threads compute the last
  // unit again; their results are not stored.
  std::string body = weft::format(
      "  let slice = lane / {0}u;\n  let number = min(group * {0}u + lane % {0}u, {1}u);\n"
      "  let unit = number % {2}u;\n  let block = number / {2}u % {3}u;\n"
      "  let input_base = (number / {4}u * {5}u + block / {6}u) * {7}u;\n",
      per_group, total - 1, units, all_blocks, units * all_blocks, plan.groups, blocks,
      plan.channels_in * rows->height * rows->width / 4);
  body += row_text.places() + row_text.loops(in, factors);
  for (std::int64_t p = 0; p < tiles.places; ++p)
    for (std::int64_t q = 0; q < quads; ++q)
      for (std::int64_t t = 0; t < 4; ++t)
        body += weft::format("  parts[{}u + lane] = sum_{}_{}[{}];\n",
                             ((p * quads + q) * 4 + t) * convolution_lanes, p, q, t);
  // Neighbouring threads store neighbouring results.
  body += weft::format(
      "  workgroupBarrier();\n  for (var e = lane; e < {0}u; e += {1}u) {{\n"
      "  let whose = e / 4u % {2}u;\n  let done = group * {2}u + whose;\n"
      "  let rest = e / {3}u;\n"
      "  let run = done % {4}u + rest / {5}u * {4}u;\n"
      "  let column = run % {6}u * 4u + e % 4u;\n"
      "  let channel = done / {4}u % {7}u % {8}u * {5}u + rest % {5}u;\n"
      "  if (done > {9}u || run >= {10}u || column >= {11}u || channel >= {12}u) {{ continue; }}\n",
      per_group * sums, convolution_lanes, per_group, 4 * per_group, units, tiles.channels,
      rows->runs_of_row(), all_blocks, blocks, total - 1, rows->runs(), rows->out_width,
      plan.channels_out);
  body += weft::format(
      "  let first = ((rest / {0}u * 4u + e % 4u) * {0}u + rest % {0}u) * {1}u + whose;\n"
      "  var total = 0.0;\n  for (var s = 0u; s < {2}u; s++) {{ total += parts[first + s * {3}u]; "
      "}}\n"
      "  let place_out = done / {4}u % {5}u / {6}u * {7}u + channel;\n"
      "  let o = (done / {8}u * {9}u + place_out) * {10}u + run / {11}u * {12}u + column;\n",
      tiles.channels, convolution_lanes, tiles.slices, per_group, units, all_blocks, blocks,
      plan.channels_out, units * all_blocks, plan.output[1], rows->out_height * rows->out_width,
      rows->runs_of_row(), rows->out_width);
  const auto results = result_text(context, node, call, epilogue, text);
  if (!results) return std::nullopt;
  body += *results + "  }\n";
  return std::vector{text.build_groups(
      convolution_label(node, epilogue),
      static_cast<std::uint64_t>((total + per_group - 1) / per_group),
      weft::format("var<workgroup> parts: array<f32, {}>;\n", sums * convolution_lanes), body)};
}

}  // namespace weft::onnx
