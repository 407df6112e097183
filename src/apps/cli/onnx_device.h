// Runs one ONNX model on the CPU or on this machine's GPU.
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
    std::string device = "gpu";  // "gpu" or "cpu"; other texts fail with invalid_argument.
    bool fuse = true;            // On a GPU: fuses several nodes into one kernel.
    // Type of floats in a GPU's memory between kernels: "f32" or "f16". Other texts fail with
    // invalid_argument.
    std::string storage = "f32";
    // On a GPU: measures the best tiling of convolutions and stores it in the user's cache. Stored
    // tilings are used even if this is false.
    bool tune = false;
  };
  [[nodiscard]] static Result<std::unique_ptr<OnnxDevice>> open(onnx::Graph graph,
                                                                const Options& options);
  [[nodiscard]] Result<std::vector<onnx::Tensor>> run(std::vector<onnx::Tensor> inputs);
  // Prepares a GPU for see(). Only the first call has an effect.
  [[nodiscard]] Result<> look(onnx::DetectorInput input, onnx::Convention convention);
  // Returns the boxes in a picture as PictureDetector finds them. Called after look().
  [[nodiscard]] Result<onnx::GpuDetector::Found> see(const onnx::Picture& picture,
                                                     const onnx::DetectionBounds& bounds);
  // The number of bytes that were uploaded for the latest picture.
  [[nodiscard]] std::uint64_t picture_bytes() const { return detector_->bytes_up(); }
  // Measures the times of the model's kernels and the peak rates of the GPU.
  [[nodiscard]] Result<onnx::GpuModel::Measurement> measure(std::vector<onnx::Tensor> inputs);
  struct Rates {
    double bytes_per_s = 0;
    double operations_per_s = 0;
  };
  [[nodiscard]] Result<Rates> rates();
  [[nodiscard]] const onnx::Graph& graph() const { return graph_; }
  // The device's name: "cpu", or the GPU's name.
  [[nodiscard]] const std::string& name() const { return name_; }
  // The model on the GPU; null if it runs on the CPU.
  [[nodiscard]] const onnx::GpuModel* gpu_model() const { return model_.get(); }

 private:
  OnnxDevice() = default;
  Result<> keep_choices() const;
  onnx::Graph graph_;
  std::string name_ = "cpu";
  std::filesystem::path choices_file_;  // Empty: tilings are not stored.
  // Order of destruction: the detector before its model, the model before its device, the device
  // before its instance.
  std::unique_ptr<gpu::PumpedInstance> instance_;
  std::unique_ptr<gpu::Device> device_;
  std::unique_ptr<onnx::GpuModel> model_;
  std::unique_ptr<onnx::PictureDetector> detector_;
};

}  // namespace weft::cli
