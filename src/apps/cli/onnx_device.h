// One ONNX model on the processor or on this machine's GPU.
#pragma once

#include <memory>
#include <string>

#include "engine/gpu/run.h"
#include "engine/onnx/gpu/gpu_model.h"

namespace weft::cli {

class OnnxDevice {
 public:
  // `device` is "gpu" or "cpu", else invalid_argument. `fuse`: on a GPU, several nodes become one
  // kernel.
  [[nodiscard]] static Result<std::unique_ptr<OnnxDevice>> open(onnx::Graph graph,
                                                                const std::string& device,
                                                                bool fuse);
  [[nodiscard]] Result<std::vector<onnx::Tensor>> run(std::vector<onnx::Tensor> inputs);
  [[nodiscard]] const onnx::Graph& graph() const { return graph_; }
  // "cpu", or the GPU's name.
  [[nodiscard]] const std::string& name() const { return name_; }
  // Null on the processor.
  [[nodiscard]] const onnx::GpuModel* gpu_model() const { return model_.get(); }

 private:
  OnnxDevice() = default;
  onnx::Graph graph_;
  std::string name_ = "cpu";
  // The model goes before its device, the device before its instance.
  std::unique_ptr<gpu::PumpedInstance> instance_;
  std::unique_ptr<gpu::Device> device_;
  std::unique_ptr<onnx::GpuModel> model_;
};

}  // namespace weft::cli
