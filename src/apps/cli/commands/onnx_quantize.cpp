#include <cstdio>

#include "apps/cli/commands/onnx.h"
#include "apps/cli/exit_code.h"
#include "apps/cli/files.h"
#include "apps/cli/json_line.h"
#include "engine/onnx/model_file.h"
#include "engine/onnx/operators/infer.h"
#include "engine/onnx/operators/prepare.h"
#include "engine/onnx/operators/quantise_weights.h"
#include "engine/onnx/write_model.h"

namespace weft::cli {
// This namespace has a name because glaze, compiled by Clang, can name only types with linkage.
namespace documents {

// The document of --json; the members' names are its keys.
struct OnnxQuantizeDocument {
  std::string file;
  std::size_t tensors = 0;
  std::uint64_t weights_bytes_before = 0;
  std::uint64_t weights_bytes = 0;
  std::uint64_t file_bytes = 0;
  double error_max = 0;
};

}  // namespace documents

namespace {

using namespace documents;

Result<OnnxQuantizeDocument> quantize_onnx(const OnnxQuantizeOptions& options) {
  WEFT_ASSIGN(onnx::Model model, onnx::open_model_file(options.file));
  WEFT_ASSIGN(onnx::Graph graph, onnx::prepare(std::move(model)));
  WEFT_ASSIGN(auto shapes, onnx::input_shapes(graph));
  WEFT_ASSIGN(const onnx::Inference before, onnx::infer(graph, shapes));
  // Symbolic input shapes stay symbolic; a float output then gets no shape.
  std::vector<std::optional<onnx::Tensor>> known(before.values);
  bool symbolic = false;
  for (const onnx::ValueId id : graph.input_ids) known[id].reset();
  for (const onnx::ValueInfo& input : graph.inputs)
    for (const auto& dimension : input.shape.value_or(std::vector<onnx::Dimension>()))
      symbolic = symbolic || !dimension.size;
  for (const onnx::ValueId id : graph.outputs)
    if (symbolic && known[id] && known[id]->type() == onnx::ElementType::f32) known[id].reset();
  WEFT_ASSIGN(onnx::QuantisedWeights made, onnx::quantise_weights(std::move(graph), options.kept));
  known.resize(made.graph.values.size());
  WEFT_ASSIGN(const ByteVector bytes,
              onnx::write_model(onnx::model_of(made.graph, made.graph.outputs, known)));
  WEFT_OK(write_file(options.out, bytes));
  return OnnxQuantizeDocument{.file = options.out,
                              .tensors = made.tensors,
                              .weights_bytes_before = made.bytes_before,
                              .weights_bytes = made.bytes_after,
                              .file_bytes = bytes.size(),
                              .error_max = made.error_max};
}

}  // namespace

int onnx_quantize_command(const OnnxQuantizeOptions& options) {
  const auto document = quantize_onnx(options);
  if (!document) return report("onnx quantize", document.error());
  std::string text;
  if (options.json) {
    text = json_line(*document);
  } else {
    text = weft::format(
        "{}: {} weight tensors as 8-bit integers, {} bytes in place of {}; none is off by more "
        "than "
        "{:.2f}% of its channel's largest\n",
        document->file, document->tensors, document->weights_bytes, document->weights_bytes_before,
        document->error_max * 100);
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
  return 0;
}

}  // namespace weft::cli
