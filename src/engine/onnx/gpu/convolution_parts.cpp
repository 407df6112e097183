#include "engine/onnx/gpu/convolution_parts.h"

#include "engine/onnx/operators/walk.h"

namespace weft::onnx {

std::string convolution_label(const Node& node, const Epilogue& epilogue) {
  std::string label = node.op;
  for (const Node* next : epilogue.nodes) label += "+" + next->op;
  return label;
}
ValueId last_output(const Node& node, const Epilogue& epilogue) {
  return epilogue.nodes.empty() ? node.outputs[0] : epilogue.nodes.back()->outputs[0];
}

std::optional<std::string> result_text(const KernelContext& context, const Node& node,
                                       const Call& call, const Epilogue& epilogue,
                                       KernelText& text) {
  std::string out = "  let sum = total;\n";
  if (const Tensor* bias = call.optional_input(2))
    out = weft::format("  let sum = total + {}[place_out];\n",
                       text.input(node.inputs[2], bias->type()));
  const auto result = apply_chain(context, epilogue, node.outputs[0], "sum", "o", text, out);
  if (!result) return std::nullopt;
  const ValueId last = last_output(node, epilogue);
  return out +
         weft::format("  {}[o] = {};\n", text.output(last, context.tensor(last).type()), *result);
}

std::shared_ptr<const std::vector<std::uint32_t>> packed_weights(
    const ConvolutionPlan& plan, const std::vector<std::uint32_t>& words, std::int64_t tile) {
  const std::int64_t taps = element_count(plan.window.kernel);
  auto out = std::make_shared<std::vector<std::uint32_t>>();
  for (std::int64_t g = 0; g < plan.groups; ++g)
    for (std::int64_t first = 0; first < plan.channels_out; first += tile)
      for (std::int64_t tap = 0; tap < taps; ++tap)
        for (std::int64_t c = 0; c < plan.channels_in; ++c)
          for (std::int64_t t = 0; t < tile; ++t)
            out->push_back(
                first + t < plan.channels_out
                    ? words[static_cast<std::size_t>(
                          ((g * plan.channels_out + first + t) * plan.channels_in + c) * taps +
                          tap)]
                    : 0);
  return out;
}

}  // namespace weft::onnx
