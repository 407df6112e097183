#include "apps/cli/served_onnx.h"

#include <algorithm>
#include <filesystem>

#include "apps/cli/onnx_files.h"
#include "engine/onnx/operators/infer.h"
#include "engine/onnx/operators/prepare.h"
#include "engine/onnx/read_model.h"

namespace weft::cli {
namespace {

using inference::TensorSize;
using inference::TensorSpec;

Result<TensorSpec> input_spec(const onnx::ValueInfo& input) {
  TensorSpec spec{.name = input.name, .type = std::string(onnx::to_string(input.type))};
  if (!input.shape)
    return fail(ErrorCode::unsupported, "The model does not give the shape of its input '{}'.",
                input.name);
  for (const onnx::Dimension& dimension : *input.shape) {
    if (dimension.size && *dimension.size < 1)
      return fail(ErrorCode::unsupported,
                  "The input '{}' has a dimension below 1, so it has no elements.", input.name);
    if (!dimension.size && dimension.symbol.empty())
      return fail(ErrorCode::unsupported,
                  "A dimension of the input '{}' has neither a size nor a name; give the model "
                  "sizes with weft onnx reshape.",
                  input.name);
    spec.shape.push_back({.number = static_cast<std::uint64_t>(dimension.size.value_or(0)),
                          .symbol = dimension.size ? "" : dimension.symbol});
  }
  return spec;
}

bool has_symbol(const std::vector<TensorSpec>& inputs, const std::string& symbol) {
  return std::ranges::any_of(inputs, [&](const TensorSpec& input) {
    return std::ranges::any_of(input.shape, [&](const TensorSize& size) {
      return size.number == 0 && size.symbol == symbol;
    });
  });
}

}  // namespace

bool is_onnx_file(const std::string& file) {
  return std::filesystem::path(file).extension() == ".onnx";
}

Result<inference::OnnxInterface> onnx_interface(ByteSpan bytes,
                                                const std::vector<std::string>& sizes) {
  WEFT_ASSIGN(onnx::Model model, onnx::read_model(bytes));
  const std::vector<onnx::ValueInfo> declared = model.outputs;
  onnx::PrepareOptions prepare;
  WEFT_ASSIGN(prepare.sizes, symbol_sizes(sizes));
  WEFT_ASSIGN(const onnx::Graph graph, onnx::prepare(std::move(model), prepare));
  inference::OnnxInterface interface;
  bool all_known = true;
  for (const onnx::ValueInfo& input : graph.inputs) {
    WEFT_ASSIGN(TensorSpec spec, input_spec(input));
    all_known &=
        std::ranges::all_of(spec.shape, [](const TensorSize& size) { return size.number > 0; });
    interface.inputs.push_back(std::move(spec));
  }
  WEFT_ASSIGN(std::vector<onnx::Tensor> shapes, onnx::input_shapes(graph));
  WEFT_ASSIGN(const onnx::Inference inference, onnx::infer(graph, std::move(shapes)));
  for (const onnx::ValueId id : graph.outputs) {
    const std::string& name = graph.name(id);
    const auto& value = inference.values[id];
    if (!value)
      return fail(ErrorCode::unsupported,
                  "The size of the output '{}' depends on the computed values; an output of a job "
                  "must have a fixed size.",
                  name);
    TensorSpec spec{.name = name, .type = std::string(onnx::to_string(value->type()))};
    const auto info = std::ranges::find(declared, name, &onnx::ValueInfo::name);
    for (std::size_t d = 0; d < value->shape().size(); ++d) {
      TensorSize size{.number = static_cast<std::uint64_t>(value->shape()[d])};
      if (!all_known) {
        // A size that does not depend on the inputs can be known only from the model's declaration.
        const bool is_declared =
            info != declared.end() && info->shape && info->shape->size() == value->shape().size();
        const onnx::Dimension dimension = is_declared ? (*info->shape)[d] : onnx::Dimension();
        if (!dimension.size && !has_symbol(interface.inputs, dimension.symbol))
          return fail(ErrorCode::unsupported,
                      "The model does not say the shape of its output '{}' by the sizes of its "
                      "inputs: give these with --size NAME=SIZE.",
                      name);
        size = {.number = static_cast<std::uint64_t>(dimension.size.value_or(0)),
                .symbol = dimension.size ? "" : dimension.symbol};
      }
      spec.shape.push_back(std::move(size));
    }
    interface.outputs.push_back(std::move(spec));
  }
  // Validates the interface by the coordinator's rules.
  return inference::read_onnx_interface(inference::to_json(interface));
}

}  // namespace weft::cli
