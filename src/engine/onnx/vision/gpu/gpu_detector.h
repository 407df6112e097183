// A detector on a GPU whose boxes come down, not its outputs: one submit and one read of a few
// kilobytes. If more rows may be boxes than come down at once, the outputs follow with a second
// submit; the boxes are those of detections_of() in both cases, to the bit.
//
// Threading: the device's thread; one call at a time. Lifetime: device and model outlive it.
#pragma once

#include "engine/onnx/gpu/gpu_model.h"
#include "engine/onnx/vision/gpu/candidate_kernel.h"

namespace weft::onnx {

class GpuDetector {
 public:
  struct Found {
    std::vector<Detection> boxes;
    std::int64_t classes = 0;
    std::uint64_t bytes_down = 0;  // From the GPU.
    std::size_t submits = 0;
    std::size_t dispatches = 0;  // Of the model and of the candidates.
  };
  struct Options {
    Placement placement = {};
    DetectionBounds bounds = {};
    std::function<void(gpu::Encoder&)> before = {};  // As GpuModel::Around has it.
  };

  [[nodiscard]] static Async<Result<std::unique_ptr<GpuDetector>>> create(gpu::Device& device,
                                                                          GpuModel& model);
  // `inputs` and `buffers` as GpuModel::run_on_device() takes them; the first input is the picture,
  // [1][3][height][width]. Fails as that does, and as detections_of() does.
  [[nodiscard]] Async<Result<Found>> detect(std::vector<Tensor> inputs,
                                            std::vector<const gpu::Buffer*> buffers,
                                            Options options);

 private:
  GpuDetector(GpuModel& model, std::unique_ptr<CandidateKernel> kernel)
      : model_(model), kernel_(std::move(kernel)) {}
  // Makes bound_ for these outputs, if it is for others; it is null if they are not a detector's.
  void bind(const GpuModel::DeviceOutputs& outputs);

  GpuModel& model_;
  const std::unique_ptr<CandidateKernel> kernel_;
  std::unique_ptr<CandidateKernel::Bound> bound_;
  std::uint64_t plan_ = 0;  // What bound_ is for.
  std::vector<Shape> shapes_;
};

}  // namespace weft::onnx
