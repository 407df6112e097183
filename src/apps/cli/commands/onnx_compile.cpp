#include <cstdio>
#include <filesystem>

#include "apps/cli/commands/onnx.h"
#include "apps/cli/exit_code.h"
#include "apps/cli/files.h"
#include "apps/cli/json_line.h"
#include "apps/cli/onnx_files.h"
#include "engine/onnx/gpu/program.h"
#include "engine/onnx/operators/infer.h"

namespace weft::cli {
// This namespace has a name because glaze, compiled by Clang, can name only types with linkage.
namespace documents {

// The document program.json; the members' names are its keys. docs/onnx.md describes them.
struct ProgramPort {
  std::string name;
  std::string type;
  std::vector<std::int64_t> shape;
  std::uint32_t buffer = 0;
};
struct ProgramSlice {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};
struct ProgramBuffer {
  std::uint64_t bytes = 0;
  std::optional<ProgramSlice> weights;
};
struct ProgramStep {
  std::string label;
  std::vector<std::string> nodes;
  std::uint32_t module = 0;
  std::array<std::uint32_t, 3> dispatch{};
  std::vector<std::uint32_t> reads;
  std::vector<std::uint32_t> writes;
};
struct ProgramDocument {
  std::string format = "weft-onnx-program";
  std::int64_t version = 1;
  std::string weights = "weights.bin";
  std::vector<std::string> modules;
  std::vector<ProgramBuffer> buffers;
  std::vector<ProgramPort> inputs;
  std::vector<ProgramPort> outputs;
  std::vector<ProgramStep> steps;
};
struct CompileDocument {
  std::string folder;
  std::size_t modules = 0;
  std::size_t steps = 0;
  std::size_t buffers = 0;
  std::uint64_t memory_bytes = 0;  // Memory of all buffers but the weights.
  std::uint64_t weights_bytes = 0;
};

}  // namespace documents

namespace {

using namespace documents;

std::string storage_name(onnx::ElementType type) { return std::string(onnx::to_string(type)); }

ProgramPort port_document(const onnx::Program::Port& port) {
  return {.name = port.name,
          .type = storage_name(port.type),
          .shape = port.shape,
          .buffer = port.buffer};
}

Result<CompileDocument> compile_onnx(const OnnxCompileOptions& options) {
  WEFT_OK(check_new_folder(options.out));
  const std::filesystem::path folder = options.out;
  WEFT_ASSIGN(const onnx::Graph graph, prepared_graph(options.file, options.sizes));
  WEFT_ASSIGN(auto shapes, onnx::input_shapes(graph));
  WEFT_ASSIGN(const onnx::Program program,
              onnx::compile(graph, std::move(shapes), {.fuse = !options.unfused}));
  ProgramDocument document;
  for (std::size_t i = 0; i < program.modules.size(); ++i) {
    document.modules.push_back(weft::format("module_{}.wgsl", i));
    WEFT_OK(write_file(folder / document.modules.back(), weft::as_bytes(program.modules[i])));
  }
  CompileDocument out{.folder = options.out,
                      .modules = program.modules.size(),
                      .steps = program.steps.size(),
                      .buffers = program.buffers.size(),
                      .memory_bytes = 0,
                      .weights_bytes = program.weights.size()};
  for (const onnx::Program::Buffer& buffer : program.buffers) {
    ProgramBuffer entry{.bytes = buffer.bytes, .weights = std::nullopt};
    if (buffer.weights_offset)
      entry.weights = ProgramSlice{.offset = *buffer.weights_offset, .bytes = buffer.bytes};
    else
      out.memory_bytes += buffer.bytes;
    document.buffers.push_back(entry);
  }
  for (const onnx::Program::Port& port : program.inputs)
    document.inputs.push_back(port_document(port));
  for (const onnx::Program::Port& port : program.outputs)
    document.outputs.push_back(port_document(port));
  for (const onnx::Program::Step& step : program.steps)
    document.steps.push_back({.label = step.label,
                              .nodes = step.nodes,
                              .module = step.module,
                              .dispatch = step.dispatch,
                              .reads = step.reads,
                              .writes = step.writes});
  const std::string text = json_line(document);
  WEFT_OK(write_file(folder / document.weights, program.weights));
  WEFT_OK(write_file(folder / "program.json", weft::as_bytes(text)));
  return out;
}

}  // namespace

int onnx_compile_command(const OnnxCompileOptions& options) {
  const auto document = compile_onnx(options);
  if (!document) return report("onnx compile", document.error());
  std::string text;
  if (options.json) {
    text = json_line(*document);
  } else {
    text = weft::format("{}: {} steps of {} modules, {} bytes of weights, {} bytes for values\n",
                        document->folder, document->steps, document->modules,
                        document->weights_bytes, document->memory_bytes);
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
  return 0;
}

}  // namespace weft::cli
