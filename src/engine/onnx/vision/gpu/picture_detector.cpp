#include "engine/onnx/vision/gpu/picture_detector.h"

namespace weft::onnx {

Async<Result<std::unique_ptr<PictureDetector>>> PictureDetector::create(gpu::Device& device,
                                                                        GpuModel& model,
                                                                        DetectorInput input,
                                                                        Convention convention) {
  std::unique_ptr<PictureDetector> out(new PictureDetector(device, input, convention));
  WEFT_CO_ASSIGN(out->kernel_, co_await PictureKernel::create(device));
  WEFT_CO_ASSIGN(out->detector_, co_await GpuDetector::create(device, model));
  co_return out;
}

Async<Result<GpuDetector::Found>> PictureDetector::see(const Picture& picture,
                                                       DetectionBounds bounds) {
  if (!fit_ || picture.width != width_ || picture.height != height_) {
    fit_.reset();
    WEFT_CO_ASSIGN(fit_, kernel_->bind({.picture_width = picture.width,
                                        .picture_height = picture.height,
                                        .width = input_.width,
                                        .height = input_.height,
                                        .fit = convention_.fit,
                                        .scale = convention_.scale,
                                        .packed = true}));
    uploads_ = std::make_unique<gpu::UploadRing>(
        device_, gpu::UploadRing::Options{.slot_bytes = fit_->picture_bytes()});
    width_ = picture.width;
    height_ = picture.height;
  }
  WEFT_CO_ASSIGN(Tensor about,
                 Tensor::shape_only(ElementType::f32, {1, 3, input_.height, input_.width}));
  std::vector<Tensor> inputs;
  inputs.push_back(std::move(about));
  const auto fit = [this, &picture](gpu::Encoder& encoder) {
    fit_->write(picture, *uploads_, encoder);
    fit_->record(encoder);
  };
  auto found =
      co_await detector_->detect(std::move(inputs), {&fit_->input()},
                                 {.placement = fit_->placement(), .bounds = bounds, .before = fit});
  uploads_->submitted();
  co_return found;
}

}  // namespace weft::onnx
