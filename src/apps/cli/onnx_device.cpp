#include "apps/cli/onnx_device.h"

#include "apps/cli/installation.h"
#include "engine/gpu/native/instance.h"
#include "engine/onnx/operators/interpreter.h"

namespace weft::cli {

Result<std::unique_ptr<OnnxDevice>> OnnxDevice::open(onnx::Graph graph, const std::string& device,
                                                     bool fuse) {
  if (device != "gpu" && device != "cpu")
    return fail(ErrorCode::invalid_argument, "The device '{}' is not gpu or cpu.", device);
  std::unique_ptr<OnnxDevice> out(new OnnxDevice);
  out->graph_ = std::move(graph);
  if (device == "cpu") return out;
  out->instance_ = gpu::native::create_instance();
  const std::filesystem::path cache = cache_folder();
  WEFT_ASSIGN(out->device_,
              gpu::run(*out->instance_,
                       out->instance_->create_device(
                           {.label = "onnx",
                            .trusted_shaders = true,
                            .cache_directory =
                                cache.empty() ? std::string() : (cache / "pipelines").string()})));
  out->name_ = out->device_->adapter().device;
  out->model_ = std::make_unique<onnx::GpuModel>(*out->device_, out->graph_,
                                                 onnx::GpuModel::Options{.fuse = fuse});
  return out;
}

Result<std::vector<onnx::Tensor>> OnnxDevice::run(std::vector<onnx::Tensor> inputs) {
  if (model_ == nullptr) return onnx::interpret(graph_, std::move(inputs));
  return gpu::run(*instance_, model_->run(std::move(inputs)));
}

}  // namespace weft::cli
