// One ONNX model on the processor or on this machine's GPU.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "engine/gpu/run.h"
#include "engine/onnx/gpu/gpu_model.h"
#include "engine/onnx/vision/gpu/picture_detector.h"

namespace weft::cli {

class OnnxDevice {
 public:
  struct Options {
    std::string device = "gpu";  // Or "cpu", else invalid_argument.
    bool fuse = true;            // On a GPU, several nodes become one kernel.
    // How floats lie in a GPU's memory between kernels: "f32" or "f16", else invalid_argument.
    std::string storage = "f32";
    // On a GPU: how convolutions are best cut is measured and kept in the user's cache. What was
    // kept is used in any case.
    bool tune = false;
  };
  [[nodiscard]] static Result<std::unique_ptr<OnnxDevice>> open(onnx::Graph graph,
                                                                const Options& options);
  [[nodiscard]] Result<std::vector<onnx::Tensor>> run(std::vector<onnx::Tensor> inputs);
  // On a GPU: makes what see() needs, once; further calls change nothing.
  [[nodiscard]] Result<> look(onnx::DetectorInput input, onnx::Convention convention);
  // After look(): the boxes in a picture, as PictureDetector finds them.
  [[nodiscard]] Result<onnx::GpuDetector::Found> see(const onnx::Picture& picture,
                                                     const onnx::DetectionBounds& bounds);
  // What went up for the latest picture.
  [[nodiscard]] std::uint64_t picture_bytes() const { return detector_->bytes_up(); }
  // On a GPU: how long the model's kernels take, and what the device reaches at best.
  [[nodiscard]] Result<onnx::GpuModel::Measurement> measure(std::vector<onnx::Tensor> inputs);
  struct Rates {
    double bytes_per_s = 0;
    double operations_per_s = 0;
  };
  [[nodiscard]] Result<Rates> rates();
  [[nodiscard]] const onnx::Graph& graph() const { return graph_; }
  // "cpu", or the GPU's name.
  [[nodiscard]] const std::string& name() const { return name_; }
  // Null on the processor.
  [[nodiscard]] const onnx::GpuModel* gpu_model() const { return model_.get(); }

 private:
  OnnxDevice() = default;
  Result<> keep_choices() const;
  onnx::Graph graph_;
  std::string name_ = "cpu";
  std::filesystem::path choices_file_;  // Empty: nothing is kept.
  // The detector goes before its model, the model before its device, the device before its
  // instance.
  std::unique_ptr<gpu::PumpedInstance> instance_;
  std::unique_ptr<gpu::Device> device_;
  std::unique_ptr<onnx::GpuModel> model_;
  std::unique_ptr<onnx::PictureDetector> detector_;
};

}  // namespace weft::cli
