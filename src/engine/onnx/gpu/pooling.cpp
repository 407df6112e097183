// Kernels of pooling, with one thread for each result.
#include "engine/onnx/gpu/kernel.h"
#include "engine/onnx/gpu/window_text.h"
#include "engine/onnx/operators/walk.h"

namespace weft::onnx {
namespace {

std::string base_text(const Window& window) {
  return weft::format("  let at = i % {0}u;\n  let base = i / {0}u * {1}u;\n",
                      element_count(window.output), element_count(window.input));
}

MaybeKernels average_kernels(const Node& node, const Call& call, const Window& window) {
  const Tensor& x = call.input(0);
  if (!is_float(x.type())) return std::nullopt;
  KernelText text;
  const std::string in = text.input(node.inputs[0], x.type());
  const std::string to = text.output(node.outputs[0], x.type());
  std::string body = base_text(window) + "  var sum = 0.0;\n  var count = 0.0;\n";
  body += window_loops(window, weft::format("  sum += {}[base + place];\n  count += 1.0;\n", in));
  if (call.integer("count_include_pad", 0) != 0) {
    // Places in the padding count for the mean; places beyond the padding do not.
    body += "  count = 1.0;\n";
    const Shape strides = row_major_strides(window.output);
    for (std::size_t d = 0; d < window.kernel.size(); ++d)
      body += weft::format(
          "  {{ var here = 0.0; for (var k = 0; k < {0}; k++) {{ if (i32(at / {1}u % {2}u) * {3} "
          "- {4} + k * {5} < {6}) {{ here += 1.0; }} }} count *= here; }}\n",
          window.kernel[d], strides[d], window.output[d], window.strides[d], window.pads_before[d],
          window.dilations[d], window.input[d] + window.pads_after[d]);
  }
  body += weft::format("  {}[i] = select(sum / count, 0.0, count == 0.0);\n", to);
  const std::int64_t planes = x.shape()[0] * x.shape()[1];
  return std::vector{
      text.build(node.op, static_cast<std::uint64_t>(planes * element_count(window.output)), body)};
}

// Returns the index in the whole tensor of the element `best` of the plane. With by_column the
// spatial dimensions are counted in reverse order.
std::string place_text(const Window& window, bool by_column) {
  if (!by_column) return "i32(base + best)";
  std::string text = "i32(base";
  std::int64_t stride = element_count(window.input);
  const Shape own = row_major_strides(window.input);
  for (std::size_t d = window.input.size(); d-- > 0;) {
    stride /= window.input[d];
    text += weft::format(" + best / {}u % {}u * {}u", own[d], window.input[d], stride);
  }
  return text + ")";
}

MaybeKernels largest_kernels(const Node& node, const Call& call, const Window& window) {
  const Tensor& x = call.input(0);
  const std::string_view word = storage_type(x.type());
  std::string_view start = "bitcast<f32>(0xff7fffffu)";
  if (x.type() == ElementType::u8) start = "0u";
  if (x.type() == ElementType::i8) start = "-128";
  KernelText text;
  const std::string in = text.input(node.inputs[0], x.type());
  const std::string to = text.output(node.outputs[0], x.type());
  std::string body = base_text(window);
  const std::int64_t planes = x.shape()[0] * x.shape()[1];
  const auto threads = static_cast<std::uint64_t>(planes * element_count(window.output));
  if (!call.wants(1)) {
    body += weft::format("  var largest: {} = {};\n", word, start);
    body += window_loops(window, weft::format("  largest = max(largest, {}[base + place]);\n", in));
    body += weft::format("  {}[i] = largest;\n", to);
    return std::vector{text.build(node.op, threads, body)};
  }
  const std::string places = text.output(node.outputs[1], ElementType::i64);
  body += weft::format("  var largest: {} = {};\n  var best = 0u;\n  var found = false;\n", word,
                       start);
  body += window_loops(window,
                       weft::format("  let value = {}[base + place];\n"
                                    "  if (!found || value > largest) {{ found = true; largest = "
                                    "value; best = place; }}\n",
                                    in));
  body += weft::format("  {}[i] = largest;\n  {}[i] = select(-1, {}, found);\n", to, places,
                       place_text(window, call.integer("storage_order", 0) != 0));
  return std::vector{text.build(node.op, threads, body)};
}

}  // namespace

MaybeKernels pooling_kernels(const KernelContext& context, const Node& node) {
  if (node.op != "AveragePool" && node.op != "MaxPool") return std::nullopt;
  const CallOf call(context, node);
  const auto window = plan_pool(*call, call->input(0));
  if (!window || context.tensor(node.outputs[0]).count() == 0) return std::nullopt;
  return node.op == "AveragePool" ? average_kernels(node, *call, *window)
                                  : largest_kernels(node, *call, *window);
}

}  // namespace weft::onnx
