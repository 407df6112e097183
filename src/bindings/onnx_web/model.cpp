#include "bindings/onnx_web/model.h"

#include <algorithm>

#include "bindings/onnx_web/answers.h"
#include "engine/onnx/operators/infer.h"
#include "engine/onnx/operators/interpreter.h"
#include "engine/onnx/operators/prepare.h"
#include "engine/onnx/read_model.h"

namespace weft::onnx_web {
namespace {

using onnx::Tensor;

// The limit for a run on the processor, which keeps its values in the module's memory of at most 4
// GiB.
constexpr std::uint64_t values_bytes_max = std::uint64_t{2} << 30;

// Most browsers name only the vendor and the architecture of a GPU.
std::string device_name(const gpu::AdapterInfo& adapter) {
  if (!adapter.description.empty()) return adapter.description;
  return adapter.architecture.empty() ? adapter.vendor
                                      : adapter.vendor + " " + adapter.architecture;
}

// Returns the facts about the outputs that are known before a run. They are unknown if shapes
// depend on more than the fixed sizes of the inputs.
std::vector<std::optional<Tensor>> outputs_known(const onnx::Graph& graph) {
  std::vector<std::optional<Tensor>> out(graph.outputs.size());
  std::vector<Tensor> inputs;
  for (const onnx::ValueInfo& input : graph.inputs) {
    const auto shape = fixed_shape(input);
    if (!shape) return out;
    auto tensor = Tensor::shape_only(input.type, *shape);
    if (!tensor) return out;
    inputs.push_back(std::move(*tensor));
  }
  const auto inference = onnx::infer(graph, std::move(inputs));
  if (!inference) return out;  // The error appears again at a run.
  for (std::size_t i = 0; i < out.size(); ++i)
    if (const auto& value = inference->values[graph.outputs[i]]) out[i] = value->without_bytes();
  return out;
}

std::vector<onnx::Shape> shapes_of(const std::vector<Tensor>& tensors) {
  std::vector<onnx::Shape> out;
  for (const Tensor& tensor : tensors) out.push_back(tensor.shape());
  return out;
}

// Copies the graph without the bytes of its constants.
onnx::Graph outline_of(const onnx::Graph& graph) {
  onnx::Graph out = graph;
  for (onnx::Value& value : out.values)
    if (value.constant) value.constant = value.constant->without_bytes();
  return out;
}

}  // namespace

Async<Result<std::shared_ptr<gpu::Device>>> Gpu::device() {
  if (!device_ || device_->lost()) {
    WEFT_CO_ASSIGN(auto made, co_await instance_->create_device(
                                  {.label = "weft onnx", .trusted_shaders = true}));
    device_ = std::move(made);
  }
  co_return device_;
}

Async<Result<std::shared_ptr<Model>>> Model::open(ByteSpan bytes, OpenRequest request, Gpu& gpu) {
  const std::shared_ptr<Model> out(new Model);
  onnx::Graph graph;
  {
    WEFT_CO_ASSIGN(onnx::Model read, onnx::read_model(bytes));
    out->name_ = read.graph_name;
    WEFT_CO_ASSIGN(graph, onnx::prepare(std::move(read), {.sizes = request.sizes}));
  }
  for (const onnx::Value& value : graph.values)
    if (value.constant) out->weight_bytes_ += value.constant->byte_count();
  out->known_outputs_ = outputs_known(graph);
  out->buffers_.resize(graph.inputs.size());
  if (request.device != DeviceChoice::cpu) {
    auto device = co_await gpu.device();
    if (device) {
      out->device_ = std::move(*device);
    } else if (request.device == DeviceChoice::gpu ||
               device.error().code != ErrorCode::unavailable) {
      co_return pass(std::move(device));
    } else {
      out->no_gpu_ = std::move(device.error().message);
    }
  }
  if (!out->device_) {
    out->graph_ = std::move(graph);
    co_return out;
  }
  out->graph_ = outline_of(graph);
  const bool one_plan = onnx::has_one_plan(graph);
  out->on_gpu_ = std::make_unique<onnx::GpuModel>(
      *out->device_, std::move(graph), onnx::GpuModel::Options{.release_constants = one_plan});
  co_return out;
}

std::string Model::info() const {
  return info_json({.graph = graph_,
                    .outputs = known_outputs_,
                    .name = name_,
                    .gpu = device_ != nullptr,
                    .device = device_ ? device_name(device_->adapter()) : "WebAssembly",
                    .no_gpu = no_gpu_,
                    .weight_bytes = weight_bytes_});
}

Result<std::vector<const gpu::Buffer*>> Model::buffers_of(const RunRequest& request) {
  std::vector<const gpu::Buffer*> buffers(request.inputs.size());
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    if (!request.on_gpu[i]) continue;
    WEFT_ASSIGN(buffers[i], input_buffer(graph_.inputs[i].name));
  }
  return buffers;
}

Async<Result<std::vector<Tensor>>> Model::compute(RunRequest request) {
  if (!on_gpu_) {
    if (std::ranges::contains(request.on_gpu, true))
      co_return fail(ErrorCode::unsupported,
                     "The model runs on the processor, which cannot read a GPU's buffers; give the "
                     "inputs as bytes.");
    co_return onnx::interpret(graph_, std::move(request.inputs), {.bytes_max = values_bytes_max});
  }
  WEFT_CO_ASSIGN(std::vector<const gpu::Buffer*> buffers, buffers_of(request));
  co_return co_await on_gpu_->run_on_device(std::move(request.inputs), std::move(buffers));
}

Async<Result<std::string>> Model::run(std::string json, ByteSpan data) {
  if (running_)
    co_return fail(ErrorCode::unavailable,
                   "The model is computing another run; wait for its answer.");
  WEFT_CO_ASSIGN(RunRequest request, parse_run(json, data, graph_));
  outputs_.clear();
  input_width_ = input_height_ = 0;
  if (!request.inputs.empty() && request.inputs[0].rank() == 4) {
    input_height_ = request.inputs[0].shape()[2];
    input_width_ = request.inputs[0].shape()[3];
  }
  running_ = true;
  auto outputs = co_await compute(std::move(request));
  running_ = false;
  if (!outputs) co_return pass(std::move(outputs));
  outputs_ = std::move(*outputs);
  co_return outputs_json(graph_, outputs_, on_gpu_ ? &on_gpu_->statistics() : nullptr);
}

Async<Result<onnx::GpuDetector::Found>> Model::find(RunRequest request, BoxesRequest boxes) {
  if (on_gpu_) {
    if (!detector_) {
      WEFT_CO_ASSIGN(detector_, co_await onnx::GpuDetector::create(*device_, *on_gpu_));
    }
    WEFT_CO_ASSIGN(std::vector<const gpu::Buffer*> buffers, buffers_of(request));
    co_return co_await detector_->detect(std::move(request.inputs), std::move(buffers),
                                         {.placement = boxes.placement, .bounds = boxes.bounds});
  }
  std::int64_t width = 0, height = 0;
  if (!request.inputs.empty() && request.inputs[0].rank() == 4) {
    height = request.inputs[0].shape()[2];
    width = request.inputs[0].shape()[3];
  }
  WEFT_CO_ASSIGN(const std::vector<Tensor> outputs, co_await compute(std::move(request)));
  onnx::GpuDetector::Found found;
  WEFT_CO_ASSIGN(found.boxes,
                 onnx::detections_of(outputs, width, height, boxes.placement, boxes.bounds));
  found.classes = onnx::class_count(shapes_of(outputs));
  co_return found;
}

Async<Result<std::string>> Model::detect(std::string json, ByteSpan data, std::string options) {
  if (running_)
    co_return fail(ErrorCode::unavailable,
                   "The model is computing another run; wait for its answer.");
  WEFT_CO_ASSIGN(BoxesRequest boxes, parse_boxes(options));
  WEFT_CO_ASSIGN(RunRequest request, parse_run(json, data, graph_));
  outputs_.clear();
  running_ = true;
  auto found = co_await find(std::move(request), boxes);
  running_ = false;
  if (!found) co_return pass(std::move(found));
  co_return found_json(*found);
}

Result<const gpu::Buffer*> Model::input_buffer(std::string_view name) {
  if (!device_)
    return fail(ErrorCode::unsupported, "The model runs on the processor and has no GPU buffers.");
  const auto input = std::ranges::find(graph_.inputs, name, &onnx::ValueInfo::name);
  if (input == graph_.inputs.end())
    return fail(ErrorCode::not_found, "The model has no input '{}'.", name);
  const auto shape = fixed_shape(*input);
  if (!shape)
    return fail(ErrorCode::unsupported,
                "The shape of the input '{}' is not fixed; open the model with its sizes.", name);
  gpu::Buffer& buffer = buffers_[static_cast<std::size_t>(input - graph_.inputs.begin())];
  if (!buffer) {
    WEFT_ASSIGN(const std::int64_t count, onnx::checked_count(*shape, input->type));
    buffer = device_->create_buffer(
        {.size = std::max<std::uint64_t>(16, static_cast<std::uint64_t>(count) * 4),
         .usage = gpu::BufferUsage::storage | gpu::BufferUsage::copy_source |
                  gpu::BufferUsage::copy_destination,
         .label = "onnx input"});
  }
  return &buffer;
}

Result<std::string> Model::boxes(std::string_view json) const {
  WEFT_ASSIGN(const BoxesRequest request, parse_boxes(json));
  if (outputs_.empty())
    return fail(ErrorCode::not_found, "No run of the model has given outputs yet.");
  WEFT_ASSIGN(const auto found, onnx::detections_of(outputs_, input_width_, input_height_,
                                                    request.placement, request.bounds));
  return boxes_json(found, onnx::class_count(shapes_of(outputs_)));
}

}  // namespace weft::onnx_web
