#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>

#include "apps/cli/commands/onnx.h"
#include "apps/cli/exit_code.h"
#include "apps/cli/files.h"
#include "apps/cli/interruption.h"
#include "apps/cli/json_line.h"
#include "apps/cli/onnx_device.h"
#include "apps/cli/onnx_files.h"
#include "engine/onnx/model_file.h"
#include "engine/onnx/numpy_file.h"
#include "engine/onnx/operators/prepare.h"

namespace weft::cli {
// This namespace has a name because glaze, compiled by Clang, can name only types with linkage.
namespace documents {

// The document of --json; the members' names are its keys.
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
  std::vector<OnnxOutputDocument> outputs;  // Outputs of all items, one after the other.
  std::optional<NetworkJob> job;            // Set if a network computed the outputs.
  // Set for a run on a GPU.
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

// Returns the folders of a data set, sorted by name; or one empty name if the inputs are in
// `inputs` itself.
Result<std::vector<std::filesystem::path>> item_folders(const std::filesystem::path& inputs) {
  std::error_code error;
  std::vector<std::filesystem::path> folders;
  for (const auto& entry : std::filesystem::directory_iterator(inputs, error)) {
    if (entry.is_directory(error)) folders.push_back(entry.path().filename());
  }
  if (error)
    return fail(ErrorCode::not_found, "The folder {} cannot be read: {}.", inputs.string(),
                error.message());
  std::ranges::sort(folders);
  if (folders.empty()) folders.emplace_back();
  return folders;
}

Result<Items> read_items(const OnnxRunOptions& options, const onnx::Graph& graph,
                         const std::vector<std::filesystem::path>& folders) {
  Items items;
  for (const std::filesystem::path& folder : folders) {
    std::vector<onnx::Tensor>& item = items.emplace_back();
    for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
      WEFT_ASSIGN(
          onnx::Tensor input,
          read_onnx_input(std::filesystem::path(options.inputs) / folder, i, graph.inputs[i].name));
      const Items::value_type& first = items.front();
      if (i < first.size() &&
          (first[i].shape() != input.shape() || first[i].type() != input.type()))
        return fail(ErrorCode::invalid_argument,
                    "The input '{}' is {} {} in '{}' and {} {} in '{}'; items of a data set are "
                    "alike.",
                    graph.inputs[i].name, onnx::to_string(first[i].type()),
                    onnx::to_string(first[i].shape()), folders.front().string(),
                    onnx::to_string(input.type()), onnx::to_string(input.shape()), folder.string());
      item.push_back(std::move(input));
    }
  }
  return items;
}

Result<> write_outputs(const OnnxRunOptions& options, const onnx::Graph& graph,
                       const std::filesystem::path& folder,
                       const std::vector<onnx::Tensor>& outputs, OnnxRunDocument& document) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::string& name = graph.name(graph.outputs[i]);
    const auto file =
        std::filesystem::path(options.outputs) / folder / weft::format("output_{}", i);
    WEFT_OK(write_file(file.string() + ".pb", onnx::write_tensor(name, outputs[i])));
    WEFT_OK(write_file(file.string() + ".npy", onnx::write_npy(outputs[i])));
    document.outputs.push_back({name, std::string(onnx::to_string(outputs[i].type())),
                                outputs[i].shape(), file.string() + ".pb"});
  }
  return {};
}

Result<OnnxRunDocument> run_here(const OnnxRunOptions& options, onnx::Graph prepared,
                                 const std::vector<std::filesystem::path>& folders) {
  auto begun = std::chrono::steady_clock::now();
  WEFT_ASSIGN(const auto device, OnnxDevice::open(std::move(prepared), {.device = options.device,
                                                                        .fuse = !options.unfused,
                                                                        .storage = options.storage,
                                                                        .tune = options.tune}));
  const onnx::Graph& graph = device->graph();
  OnnxRunDocument document;
  document.device = device->name();
  WEFT_ASSIGN(Items items, read_items(options, graph, folders));
  document.prepare_s = seconds_since(begun);
  for (std::size_t i = 0; i < items.size(); ++i) {
    begun = std::chrono::steady_clock::now();
    WEFT_ASSIGN(const auto outputs, device->run(std::move(items[i])));
    document.run_s += seconds_since(begun);
    WEFT_OK(write_outputs(options, graph, folders[i], outputs, document));
    if (interrupted())
      return fail(ErrorCode::cancelled, "Interrupted after {} of {} items.", i + 1, items.size());
  }
  if (const onnx::GpuModel* model_on_gpu = device->gpu_model()) {
    const onnx::GpuModel::Statistics& counted = model_on_gpu->statistics();
    document.gpu = OnnxGpuDocument{.nodes_on_gpu = counted.nodes_on_gpu,
                                   .nodes_on_processor = counted.processor_nodes,
                                   .dispatches = counted.dispatches,
                                   .submits = counted.submits,
                                   .memory_bytes = counted.memory_bytes,
                                   .unshared_bytes = counted.unshared_bytes};
  }
  return document;
}

Result<OnnxRunDocument> run_there(const OnnxRunOptions& options, const onnx::Graph& graph,
                                  const std::vector<std::filesystem::path>& folders) {
  if (options.storage != "f32")
    return fail(ErrorCode::invalid_argument,
                "--storage {} is for this machine's GPU; the workers of a network store f32.",
                options.storage);
  auto begun = std::chrono::steady_clock::now();
  OnnxRunDocument document{.device = "network", .outputs = {}, .job = {}, .gpu = {}};
  WEFT_ASSIGN(const Items items, read_items(options, graph, folders));
  document.prepare_s = seconds_since(begun);
  begun = std::chrono::steady_clock::now();
  WEFT_ASSIGN(const NetworkResults results, run_on_network(options.file, graph, items, options.at));
  document.run_s = seconds_since(begun);
  for (std::size_t i = 0; i < items.size(); ++i)
    WEFT_OK(write_outputs(options, graph, folders[i], results.outputs[i], document));
  document.job = results.job;
  return document;
}

Result<OnnxRunDocument> run_onnx(const OnnxRunOptions& options) {
  const auto begun = std::chrono::steady_clock::now();
  WEFT_ASSIGN(onnx::Model model, onnx::open_model_file(options.file));
  WEFT_ASSIGN(onnx::Graph prepared, onnx::prepare(std::move(model)));
  const double read_s = seconds_since(begun);
  WEFT_ASSIGN(const auto folders, item_folders(options.inputs));
  auto document = options.network ? run_there(options, prepared, folders)
                                  : run_here(options, std::move(prepared), folders);
  if (document) document->prepare_s += read_s;
  return document;
}

}  // namespace

int onnx_run_command(const OnnxRunOptions& options) {
  note_interruptions();
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
    if (document->job) text += to_line(*document->job);
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
  return 0;
}

}  // namespace weft::cli
