#include <cstdio>
#include <filesystem>

#include "apps/cli/commands/onnx.h"
#include "apps/cli/exit_code.h"
#include "apps/cli/files.h"
#include "apps/cli/json_line.h"
#include "apps/cli/onnx_files.h"
#include "engine/onnx/operators/cut.h"
#include "engine/onnx/operators/infer.h"
#include "engine/onnx/write_model.h"

namespace weft::cli {
// This namespace has a name because glaze, compiled by Clang, can name only types with linkage.
namespace documents {

// The documents of parts.json and of --json; the members' names are their keys.
struct SplitPartDocument {
  std::string file;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::size_t nodes = 0;
  double work = 0;               // Share of this part in the whole model's work.
  std::uint64_t sent_bytes = 0;  // Bytes that later parts need from this and earlier parts.
};
struct SplitDocument {
  std::vector<SplitPartDocument> parts;
};

}  // namespace documents

namespace {

using namespace documents;

Result<SplitDocument> split_onnx(const OnnxSplitOptions& options) {
  if (options.parts < 2)
    return fail(ErrorCode::invalid_argument, "--parts is {}, but a split has at least 2 parts.",
                options.parts);
  WEFT_OK(check_new_folder(options.out));
  const std::filesystem::path folder = options.out;
  WEFT_ASSIGN(const onnx::Graph graph, prepared_graph(options.file, options.sizes));
  WEFT_ASSIGN(auto shapes, onnx::input_shapes(graph));
  WEFT_ASSIGN(const onnx::Inference inference, onnx::infer(graph, std::move(shapes)));
  if (graph.nodes.size() < options.parts)
    return fail(ErrorCode::invalid_argument,
                "--parts {} is more than the {} nodes that the model has after constants are "
                "folded; ask for fewer.",
                options.parts, graph.nodes.size());
  const onnx::CutCost cuts = onnx::balanced_cuts(graph, inference, options.parts);
  SplitDocument out;
  for (std::size_t p = 0; p <= cuts.places.size(); ++p) {
    const onnx::Part part =
        onnx::part_of(graph, inference, p == 0 ? 0 : cuts.places[p - 1],
                      p == cuts.places.size() ? graph.nodes.size() : cuts.places[p]);
    SplitPartDocument entry{.file = weft::format("part_{}.onnx", p),
                            .inputs = {},
                            .outputs = {},
                            .nodes = part.graph.nodes.size(),
                            .work = cuts.work[p],
                            .sent_bytes = p < cuts.places.size() ? cuts.crossing_bytes[p] : 0};
    std::vector<std::optional<onnx::Tensor>> known(part.graph.values.size());
    for (std::size_t i = 0; i < part.outputs.size(); ++i) {
      if (const auto& value = inference.values[part.outputs[i]])
        known[part.graph.outputs[i]] = value->without_bytes();
      entry.outputs.push_back(graph.name(part.outputs[i]));
    }
    for (const onnx::ValueId id : part.inputs) entry.inputs.push_back(graph.name(id));
    WEFT_ASSIGN(const ByteVector bytes,
                onnx::write_model(onnx::model_of(part.graph, part.graph.outputs, known)));
    WEFT_OK(write_file(folder / entry.file, bytes));
    out.parts.push_back(std::move(entry));
  }
  const std::string text = json_line(out);
  WEFT_OK(write_file(folder / "parts.json", weft::as_bytes(text)));
  return out;
}

}  // namespace

int onnx_split_command(const OnnxSplitOptions& options) {
  const auto document = split_onnx(options);
  if (!document) return report("onnx split", document.error());
  std::string text;
  if (options.json) {
    text = json_line(*document);
  } else {
    for (const SplitPartDocument& part : document->parts)
      text +=
          weft::format("{:<16} {:>5} nodes, {:>5.1f}% of the work, then {} bytes are handed on\n",
                       part.file, part.nodes, part.work * 100, part.sent_bytes);
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
  return 0;
}

}  // namespace weft::cli
