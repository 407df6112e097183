#include <chrono>
#include <cstdio>
#include <filesystem>

#include "apps/cli/commands/onnx.h"
#include "apps/cli/exit_code.h"
#include "apps/cli/files.h"
#include "apps/cli/json_line.h"
#include "apps/cli/onnx_device.h"
#include "apps/cli/onnx_files.h"
#include "engine/onnx/model_file.h"
#include "engine/onnx/numpy_file.h"
#include "engine/onnx/operators/prepare.h"

namespace weft::cli {
// glaze names types in clang only where they have linkage, so these stand in no unnamed namespace.
namespace documents {

// The document of --json; the names are its keys.
struct OnnxOutputDocument {
  std::string name;
  std::string type;
  std::vector<std::int64_t> shape;
  std::string file;
};
struct OnnxGpuDocument {
  std::size_t nodes_on_gpu = 0;
  std::vector<std::string> nodes_on_processor;
  std::size_t dispatches = 0;
  std::size_t submits = 0;
  std::uint64_t memory_bytes = 0;
  std::uint64_t unshared_bytes = 0;
};
struct OnnxRunDocument {
  std::string device;
  std::vector<OnnxOutputDocument> outputs;
  // Figures of a run on a GPU.
  std::optional<OnnxGpuDocument> gpu;
  double prepare_s = 0;
  double run_s = 0;
};

}  // namespace documents

namespace {

using namespace documents;

double seconds_since(std::chrono::steady_clock::time_point begun) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}

Result<OnnxRunDocument> run_onnx(const OnnxRunOptions& options) {
  auto begun = std::chrono::steady_clock::now();
  WEFT_ASSIGN(onnx::Model model, onnx::open_model_file(options.file));
  WEFT_ASSIGN(onnx::Graph prepared, onnx::prepare(std::move(model)));
  WEFT_ASSIGN(const auto device, OnnxDevice::open(std::move(prepared), {.device = options.device,
                                                                        .fuse = !options.unfused,
                                                                        .tune = options.tune}));
  const onnx::Graph& graph = device->graph();
  OnnxRunDocument document;
  document.device = device->name();
  std::vector<onnx::Tensor> inputs;
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    WEFT_ASSIGN(onnx::Tensor input, read_onnx_input(options.inputs, i, graph.inputs[i].name));
    inputs.push_back(std::move(input));
  }
  document.prepare_s = seconds_since(begun);
  begun = std::chrono::steady_clock::now();
  WEFT_ASSIGN(const auto outputs, device->run(std::move(inputs)));
  document.run_s = seconds_since(begun);
  if (const onnx::GpuModel* model_on_gpu = device->gpu_model()) {
    const onnx::GpuModel::Statistics& counted = model_on_gpu->statistics();
    document.gpu = OnnxGpuDocument{.nodes_on_gpu = counted.nodes_on_gpu,
                                   .nodes_on_processor = counted.processor_nodes,
                                   .dispatches = counted.dispatches,
                                   .submits = counted.submits,
                                   .memory_bytes = counted.memory_bytes,
                                   .unshared_bytes = counted.unshared_bytes};
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::string& name = graph.name(graph.outputs[i]);
    const auto file = std::filesystem::path(options.outputs) / weft::format("output_{}", i);
    WEFT_OK(write_file(file.string() + ".pb", onnx::write_tensor(name, outputs[i])));
    WEFT_OK(write_file(file.string() + ".npy", onnx::write_npy(outputs[i])));
    document.outputs.push_back({name, std::string(onnx::to_string(outputs[i].type())),
                                outputs[i].shape(), file.string() + ".pb"});
  }
  return document;
}

}  // namespace

int onnx_run_command(const OnnxRunOptions& options) {
  const auto document = run_onnx(options);
  if (!document) return report("onnx run", document.error());
  std::string text;
  if (options.json) {
    text = json_line(*document);
  } else {
    for (const OnnxOutputDocument& output : document->outputs)
      text += weft::format("{:<24} {:<5} {:<24} {}\n", output.name, output.type,
                           onnx::to_string(output.shape), output.file);
    text += weft::format("{:.3f} s on {}\n", document->run_s, document->device);
    if (document->gpu) {
      text += weft::format("{} dispatches in {} submits, {} bytes for values\n",
                           document->gpu->dispatches, document->gpu->submits,
                           document->gpu->memory_bytes);
      for (const std::string& node : document->gpu->nodes_on_processor)
        text += weft::format("the processor computed node {}\n", node);
    }
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
  return 0;
}

}  // namespace weft::cli
