#include "engine/onnx/vision/gpu/gpu_detector.h"

#include <algorithm>

namespace weft::onnx {

Async<Result<std::unique_ptr<GpuDetector>>> GpuDetector::create(gpu::Device& device,
                                                                GpuModel& model) {
  WEFT_CO_ASSIGN(auto kernel, co_await CandidateKernel::create(device));
  co_return std::unique_ptr<GpuDetector>(new GpuDetector(model, std::move(kernel)));
}

void GpuDetector::bind(const GpuModel::DeviceOutputs& outputs) {
  if (plan_ == outputs.plan) return;
  plan_ = outputs.plan;
  bound_.reset();
  shapes_.clear();
  bool floats = true;
  for (const Tensor* output : outputs.about) {
    shapes_.push_back(output->shape());
    floats = floats && output->type() == ElementType::f32;
  }
  if (!floats) return;
  if (auto bound = kernel_->bind(shapes_, outputs.values)) bound_ = std::move(*bound);
}

Async<Result<GpuDetector::Found>> GpuDetector::detect(std::vector<Tensor> inputs,
                                                      std::vector<const gpu::Buffer*> buffers,
                                                      Options options) {
  std::int64_t width = 0, height = 0;
  if (!inputs.empty() && inputs[0].rank() == 4) {
    height = inputs[0].shape()[2];
    width = inputs[0].shape()[3];
  }
  const auto choose = [this, &options](gpu::Encoder& encoder,
                                       const GpuModel::DeviceOutputs& outputs) {
    bind(outputs);
    if (!bound_) return;
    bound_->set_score(options.bounds.score_min);
    bound_->record(encoder);
  };
  WEFT_CO_ASSIGN(const bool chosen, co_await model_.run_around(
                                        std::move(inputs), std::move(buffers),
                                        {.before = std::move(options.before), .after = choose}));
  Found found;
  found.dispatches = model_.statistics().dispatches;
  if (chosen && bound_) {
    WEFT_CO_ASSIGN(auto candidates, co_await bound_->read());
    found.bytes_down = bound_->bytes();
    found.dispatches += 1;
    if (candidates) {
      found.submits = model_.statistics().submits;
      found.classes = class_count(shapes_);
      found.boxes = detections_of(std::move(*candidates), *detector_kind(shapes_), width, height,
                                  options.placement, options.bounds);
      co_return found;
    }
  }
  WEFT_CO_ASSIGN(const std::vector<Tensor> outputs, co_await model_.outputs());
  for (const Tensor& output : outputs)
    found.bytes_down += static_cast<std::uint64_t>(output.count()) * 4;
  found.submits = model_.statistics().submits;
  WEFT_CO_ASSIGN(found.boxes,
                 detections_of(outputs, width, height, options.placement, options.bounds));
  std::vector<Shape> shapes;
  for (const Tensor& output : outputs) shapes.push_back(output.shape());
  found.classes = class_count(shapes);
  co_return found;
}

}  // namespace weft::onnx
