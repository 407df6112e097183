#include "engine/onnx/vision/gpu/picture_detector.h"

namespace weft::onnx {

Async<Result<std::unique_ptr<PictureDetector>>> PictureDetector::create(gpu::Device& device,
                                                                        GpuModel& model,
                                                                        DetectorInput input,
                                                                        Convention convention) {
  std::unique_ptr<PictureDetector> out(new PictureDetector(input, convention));
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
    width_ = picture.width;
    height_ = picture.height;
  }
  fit_->write(picture);
  WEFT_CO_ASSIGN(Tensor about,
                 Tensor::shape_only(ElementType::f32, {1, 3, input_.height, input_.width}));
  std::vector<Tensor> inputs;
  inputs.push_back(std::move(about));
  co_return co_await detector_->detect(
      std::move(inputs), {&fit_->input()},
      {.placement = fit_->placement(), .bounds = bounds, .before = [this](gpu::Encoder& encoder) {
         fit_->record(encoder);
       }});
}

}  // namespace weft::onnx
