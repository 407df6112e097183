#include <charconv>
#include <cstdio>

#include "apps/cli/commands/onnx.h"
#include "apps/cli/exit_code.h"
#include "apps/cli/files.h"
#include "apps/cli/json_line.h"
#include "engine/onnx/model_file.h"
#include "engine/onnx/operators/prepare.h"
#include "engine/onnx/operators/reshape_model.h"
#include "engine/onnx/write_model.h"

namespace weft::cli {
// This namespace has a name because glaze, compiled by Clang, can name only types with linkage.
namespace documents {

// The document of --json; the members' names are its keys.
struct OnnxReshapeDocument {
  std::string file;
  std::vector<std::string> inputs;   // "NAME [1, 3, 320, 320]"
  std::vector<std::string> outputs;  // The new shapes of the outputs.
  std::vector<std::string> changes;
};

}  // namespace documents

namespace {

using namespace documents;

// Parses a shape such as "1x3x320x320".
Result<onnx::Shape> sizes_of(std::string_view text) {
  onnx::Shape shape;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('x', at), text.size());
    std::int64_t size = 0;
    const auto read = std::from_chars(text.data() + at, text.data() + end, size);
    if (read.ec != std::errc() || read.ptr != text.data() + end || size < 1)
      return fail(ErrorCode::invalid_argument,
                  "--shape '{}' is not sizes with an x between them, such as 1x3x320x320.", text);
    shape.push_back(size);
    at = end + 1;
  }
  return shape;
}

Result<std::vector<onnx::Tensor>> wanted_shapes(const onnx::Graph& graph,
                                                const std::vector<std::string>& given) {
  WEFT_ASSIGN(auto shapes, onnx::input_shapes(graph));
  for (const std::string& text : given) {
    const std::size_t equals = text.rfind('=');
    std::size_t place = 0;
    if (equals == std::string::npos) {
      if (shapes.size() != 1)
        return fail(ErrorCode::invalid_argument,
                    "The model has {} inputs; name one, as --shape NAME={}.", shapes.size(), text);
    } else {
      const std::string name = text.substr(0, equals);
      while (place < shapes.size() && graph.inputs[place].name != name) ++place;
      if (place == shapes.size())
        return fail(ErrorCode::invalid_argument, "The model has no input '{}'.", name);
    }
    WEFT_ASSIGN(const onnx::Shape shape,
                sizes_of(equals == std::string::npos ? std::string_view(text)
                                                     : std::string_view(text).substr(equals + 1)));
    WEFT_ASSIGN(shapes[place],
                onnx::Tensor::shape_only(graph.inputs[place].type, onnx::Shape(shape)));
  }
  return shapes;
}

Result<OnnxReshapeDocument> reshape_onnx(const OnnxReshapeOptions& options) {
  WEFT_ASSIGN(onnx::Model model, onnx::open_model_file(options.file));
  WEFT_ASSIGN(onnx::Graph graph, onnx::prepare(std::move(model)));
  WEFT_ASSIGN(auto shapes, wanted_shapes(graph, options.shapes));
  WEFT_ASSIGN(const onnx::Reshaped reshaped, onnx::reshape_model(std::move(graph), shapes));
  WEFT_ASSIGN(const onnx::Inference inference, onnx::infer(reshaped.graph, std::move(shapes)));
  WEFT_ASSIGN(
      const ByteVector bytes,
      onnx::write_model(onnx::model_of(reshaped.graph, reshaped.graph.outputs, inference.values)));
  WEFT_OK(write_file(options.out, bytes));
  OnnxReshapeDocument out{
      .file = options.out, .inputs = {}, .outputs = {}, .changes = reshaped.changes};
  const auto described = [&](onnx::ValueId id) {
    const auto& value = inference.values[id];
    return weft::format("{} {}", reshaped.graph.name(id),
                        value ? onnx::to_string(value->shape()) : "known when it runs");
  };
  for (const onnx::ValueId id : reshaped.graph.input_ids) out.inputs.push_back(described(id));
  for (const onnx::ValueId id : reshaped.graph.outputs) out.outputs.push_back(described(id));
  return out;
}

}  // namespace

int onnx_reshape_command(const OnnxReshapeOptions& options) {
  const auto document = reshape_onnx(options);
  if (!document) return report("onnx reshape", document.error());
  std::string text;
  if (options.json) {
    text = json_line(*document);
  } else {
    for (const std::string& change : document->changes) text += change + "\n";
    for (const std::string& input : document->inputs) text += "input   " + input + "\n";
    for (const std::string& output : document->outputs) text += "output  " + output + "\n";
    text += weft::format("written to {}\n", document->file);
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
  return 0;
}

}  // namespace weft::cli
