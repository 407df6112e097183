#include <cstdio>
#include <map>

#include "apps/cli/commands/onnx.h"
#include "apps/cli/exit_code.h"
#include "apps/cli/json_line.h"
#include "apps/cli/onnx_files.h"
#include "engine/onnx/model_file.h"
#include "engine/onnx/operators/infer.h"
#include "engine/onnx/operators/prepare.h"

namespace weft::cli {
// This namespace has a name because glaze, compiled by Clang, can name only types with linkage.
namespace documents {

// The document of --json; the members' names are its keys.
struct OnnxValueDocument {
  std::string name;
  std::string type;
  std::string shape;
};
struct OnnxNodeDocument {
  std::string name;
  std::string op;
  std::vector<OnnxValueDocument> outputs;
};
struct OnnxDocument {
  std::string file;
  std::string format = "onnx";
  std::int64_t opset = 0;
  std::string producer;
  std::vector<OnnxValueDocument> inputs;
  std::vector<OnnxValueDocument> outputs;
  std::vector<OnnxNodeDocument> nodes;
  std::map<std::string, std::uint64_t> operators;
  std::size_t nodes_in_file = 0;
  std::uint64_t parameters = 0;
  std::uint64_t parameter_bytes = 0;
  std::uint64_t multiply_adds = 0;
  std::uint64_t activation_bytes = 0;
  bool complete = true;
};

}  // namespace documents

namespace {

using namespace documents;

std::string declared_shape(const onnx::ValueInfo& value) {
  if (!value.shape) return "[...]";
  std::string text = "[";
  for (const onnx::Dimension& dimension : *value.shape) {
    if (text.size() > 1) text += ", ";
    text += dimension.size             ? std::to_string(*dimension.size)
            : dimension.symbol.empty() ? "?"
                                       : dimension.symbol;
  }
  return text + "]";
}

Result<OnnxDocument> inspect_onnx(const OnnxInspectOptions& options) {
  WEFT_ASSIGN(onnx::Model model, onnx::open_model_file(options.file));
  OnnxDocument document;
  document.file = options.file;
  document.opset = model.opset;
  document.producer = model.producer;
  document.nodes_in_file = model.nodes.size();
  onnx::PrepareOptions prepare;
  WEFT_ASSIGN(prepare.sizes, symbol_sizes(options.sizes));
  WEFT_ASSIGN(const onnx::Graph graph, onnx::prepare(std::move(model), prepare));
  WEFT_ASSIGN(auto shapes, onnx::input_shapes(graph));
  WEFT_ASSIGN(const onnx::Inference inference, onnx::infer(graph, std::move(shapes)));
  const auto document_of = [&](onnx::ValueId id) {
    const auto& value = inference.values[id];
    return OnnxValueDocument{
        .name = graph.name(id),
        .type = value ? std::string(onnx::to_string(value->type())) : "unknown",
        .shape = value ? onnx::to_string(value->shape()) : "known when it runs"};
  };
  for (const onnx::ValueInfo& input : graph.inputs)
    document.inputs.push_back(
        {input.name, std::string(onnx::to_string(input.type)), declared_shape(input)});
  for (const onnx::ValueId id : graph.outputs) document.outputs.push_back(document_of(id));
  for (const onnx::Node& node : graph.nodes) {
    OnnxNodeDocument entry{.name = node.name, .op = node.op, .outputs = {}};
    for (const onnx::ValueId id : node.outputs)
      if (id != onnx::no_value) entry.outputs.push_back(document_of(id));
    document.nodes.push_back(std::move(entry));
    ++document.operators[node.op];
  }
  const onnx::RunCost cost = onnx::cost_of(graph, inference);
  document.parameters = cost.parameter_count;
  document.parameter_bytes = cost.parameter_bytes;
  document.multiply_adds = cost.multiply_adds;
  document.activation_bytes = cost.activation_bytes;
  document.complete = cost.complete;
  return document;
}

void print_onnx(const OnnxDocument& document) {
  std::string out = weft::format("{}: ONNX, opset {}{}{}\n\n", document.file, document.opset,
                                 document.producer.empty() ? "" : ", by ", document.producer);
  for (const auto& [title, values] :
       {std::pair("input", &document.inputs), {"output", &document.outputs}})
    for (const OnnxValueDocument& value : *values)
      out += weft::format("{:<7} {:<36} {:<5} {}\n", title, value.name, value.type, value.shape);
  out += weft::format("\nnodes ({} of the file's {}; the others are constant or unused)\n",
                      document.nodes.size(), document.nodes_in_file);
  for (const OnnxNodeDocument& node : document.nodes)
    out += weft::format("  {:<24} {:<40} {}\n", node.op, node.name,
                        node.outputs.empty() ? "" : node.outputs[0].shape);
  out += "\noperators\n";
  for (const auto& [op, count] : document.operators)
    out += weft::format("  {:<24} {}\n", op, count);
  out += weft::format(
      "\nparameters     {} in {} bytes\nmultiply-adds  {}{}\nactivations    {} bytes at most at a "
      "time\n",
      document.parameters, document.parameter_bytes, document.multiply_adds,
      document.complete ? "" : " at least: some shapes are known only when it runs",
      document.activation_bytes);
  std::fwrite(out.data(), 1, out.size(), stdout);
}

}  // namespace

int onnx_inspect_command(const OnnxInspectOptions& options) {
  const auto document = inspect_onnx(options);
  if (!document) return report("onnx inspect", document.error());
  if (options.json) {
    std::fputs(json_line(*document).c_str(), stdout);
  } else {
    print_onnx(*document);
  }
  return 0;
}

}  // namespace weft::cli
