// From a picture in memory to boxes: the pixels go up once, three bytes each, and what comes down
// is what GpuDetector reads. Fitting, model and choice are one submit; nothing is made for a frame
// but the first of its size.
//
// Threading: the device's thread; one call at a time. Lifetime: device and model outlive it.
#pragma once

#include "engine/onnx/vision/convention.h"
#include "engine/onnx/vision/gpu/gpu_detector.h"
#include "engine/onnx/vision/gpu/picture_kernel.h"

namespace weft::onnx {

class PictureDetector {
 public:
  // `input` is that of the model's graph.
  [[nodiscard]] static Async<Result<std::unique_ptr<PictureDetector>>> create(
      gpu::Device& device, GpuModel& model, DetectorInput input, Convention convention);
  // `picture` stays valid until done. Fails as PictureKernel::bind() and GpuDetector::detect() do.
  [[nodiscard]] Async<Result<GpuDetector::Found>> see(const Picture& picture,
                                                      DetectionBounds bounds);
  // Pixels of one picture of the latest size take so many bytes.
  [[nodiscard]] std::uint64_t bytes_up() const { return fit_ ? fit_->picture_bytes() : 0; }

  // Dispatches that fit the picture, before those that Found counts.
  static constexpr std::size_t dispatches = 2;

 private:
  PictureDetector(gpu::Device& device, DetectorInput input, Convention convention)
      : device_(device), input_(input), convention_(convention) {}

  gpu::Device& device_;
  const DetectorInput input_;
  const Convention convention_;
  std::unique_ptr<PictureKernel> kernel_;
  std::unique_ptr<GpuDetector> detector_;
  std::unique_ptr<PictureKernel::Bound> fit_;  // For the latest size.
  std::unique_ptr<gpu::UploadRing> uploads_;   // Holds a picture of that size.
  std::int64_t width_ = 0;
  std::int64_t height_ = 0;
};

}  // namespace weft::onnx
