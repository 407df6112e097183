// Runs a detector on a GPU and reads back its boxes instead of its outputs: one submit and one
// readback of a few kilobytes. If there are more candidates than fit into the readback, a second
// submit reads the whole outputs. The boxes are those of detections_of() in both cases, bit for
// bit.
//
// Threading: the device's thread; one call at a time. Lifetime: device and model outlive the
// detector.
#pragma once

#include "engine/onnx/gpu/gpu_model.h"
#include "engine/onnx/vision/gpu/candidate_kernel.h"

namespace weft::onnx {

class GpuDetector {
 public:
  struct Found {
    std::vector<Detection> boxes;
    std::int64_t classes = 0;
    std::uint64_t bytes_down = 0;  // The number of bytes that were read back.
    std::size_t submits = 0;
    std::size_t dispatches = 0;  // Dispatches of the model and of the choice of candidates.
  };
  struct Options {
    Placement placement = {};
    DetectionBounds bounds = {};
    std::function<void(gpu::Encoder&)> before = {};  // Means the same as GpuModel::Around::before.
  };

  [[nodiscard]] static Async<Result<std::unique_ptr<GpuDetector>>> create(gpu::Device& device,
                                                                          GpuModel& model);
  // `inputs` and `buffers` are those of GpuModel::run_on_device(); the first input is the picture,
  // [1][3][height][width]. Fails as GpuModel::run_on_device() and detections_of() do.
  [[nodiscard]] Async<Result<Found>> detect(std::vector<Tensor> inputs,
                                            std::vector<const gpu::Buffer*> buffers,
                                            Options options);

 private:
  GpuDetector(GpuModel& model, std::unique_ptr<CandidateKernel> kernel)
      : model_(model), kernel_(std::move(kernel)) {}
  // Makes bound_ for `outputs` unless it is already made for them. bound_ becomes null if the
  // outputs are not those of a detector.
  void bind(const GpuModel::DeviceOutputs& outputs);

  GpuModel& model_;
  const std::unique_ptr<CandidateKernel> kernel_;
  std::unique_ptr<CandidateKernel::Bound> bound_;
  std::uint64_t plan_ = 0;  // The plan whose outputs bound_ reads.
  std::vector<Shape> shapes_;
};

}  // namespace weft::onnx
