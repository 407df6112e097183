// Finds boxes in a picture in memory. The pixels are uploaded once, three bytes each, and only the
// candidates that GpuDetector reads are read back. Fitting, model and choice of candidates are one
// submit. Buffers are made only for the first frame of a size.
//
// Threading: the device's thread; one call at a time. Lifetime: device and model outlive it.
#pragma once

#include "engine/onnx/vision/convention.h"
#include "engine/onnx/vision/gpu/gpu_detector.h"
#include "engine/onnx/vision/gpu/picture_kernel.h"

namespace weft::onnx {

class PictureDetector {
 public:
  // `input` is the result of detector_input() for the model's graph.
  [[nodiscard]] static Async<Result<std::unique_ptr<PictureDetector>>> create(
      gpu::Device& device, GpuModel& model, DetectorInput input, Convention convention);
  // `picture` stays valid until the call is done. Fails as PictureKernel::bind() and
  // GpuDetector::detect() do.
  [[nodiscard]] Async<Result<GpuDetector::Found>> see(const Picture& picture,
                                                      DetectionBounds bounds);
  // The bytes that are uploaded for one picture of the latest size.
  [[nodiscard]] std::uint64_t bytes_up() const { return fit_ ? fit_->picture_bytes() : 0; }

  // The number of dispatches that fit the picture. GpuDetector::Found does not count them.
  static constexpr std::size_t dispatches = 2;

 private:
  PictureDetector(gpu::Device& device, DetectorInput input, Convention convention)
      : device_(device), input_(input), convention_(convention) {}

  gpu::Device& device_;
  const DetectorInput input_;
  const Convention convention_;
  std::unique_ptr<PictureKernel> kernel_;
  std::unique_ptr<GpuDetector> detector_;
  std::unique_ptr<PictureKernel::Bound> fit_;  // Fits pictures of the latest size.
  std::unique_ptr<gpu::UploadRing> uploads_;   // Holds one picture of the latest size.
  std::int64_t width_ = 0;
  std::int64_t height_ = 0;
};

}  // namespace weft::onnx
