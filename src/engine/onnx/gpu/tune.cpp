// Measures how each convolution of a model is best cut on this device, once for a node's shape.
#include <utility>

#include "engine/gpu/measure.h"
#include "engine/onnx/gpu/convolution.h"
#include "engine/onnx/gpu/convolution_choices.h"
#include "engine/onnx/gpu/plan.h"
#include "engine/onnx/gpu/warm_up.h"

namespace weft::onnx {
namespace {

using gpu::BufferUsage;
constexpr double busy_seconds = 0.0005;

// Seconds of a kernel with buffers of its own; what they hold does not matter.
Async<Result<double>> seconds_of(gpu::Device& device, const KernelContext& context,
                                 const Kernel& kernel) {
  gpu::GroupLayout layout;
  std::vector<gpu::Buffer> buffers;
  std::vector<gpu::BoundBuffer> bound;
  const auto add = [&](std::uint64_t words, gpu::BindingKind kind) {
    layout.push_back({static_cast<std::uint32_t>(layout.size()), kind});
    buffers.push_back(
        device.create_buffer({.size = (words * 4 + 15) / 16 * 16,
                              .usage = BufferUsage::storage | BufferUsage::copy_destination,
                              .label = "onnx measurement"}));
  };
  for (const KernelInput& input : kernel.inputs)
    add(input.value == no_value ? input.data->size()
                                : static_cast<std::uint64_t>(context.tensor(input.value).count()),
        gpu::BindingKind::storage_read);
  for (const ValueId id : kernel.outputs)
    add(static_cast<std::uint64_t>(context.tensor(id).count()), gpu::BindingKind::storage);
  WEFT_CO_ASSIGN(const gpu::Pipeline pipeline,
                 co_await device.create_pipeline(
                     {.wgsl = kernel.wgsl, .label = "onnx " + kernel.label, .groups = {layout}}));
  for (std::uint32_t i = 0; i < buffers.size(); ++i)
    bound.push_back({.binding = i, .buffer = buffers[i]});
  const gpu::BindGroup group = device.create_bind_group(pipeline, 0, bound);
  gpu::Meter meter(device);
  co_return co_await meter.seconds_each(
      [&](gpu::Pass& pass) { pass.run(pipeline, {&group}, kernel.workgroups); },
      {.busy_seconds = busy_seconds, .rounds = 3});
}

}  // namespace

Async<Result<>> GpuModel::tune(const Inference& inference) {
  bool is_warm = false;
  for (const Node& node : graph_.nodes) {
    const auto& out = inference.values[node.outputs[0]];
    const KernelContext plain{.graph = graph_, .inference = inference};
    if (node.op != "Conv" || !out || !inference.values[node.inputs[0]] ||
        !inference.values[node.inputs[1]])
      continue;
    const CallOf call(plain, node);
    const auto plan = plan_convolution(*call, call->input(0), call->input(1));
    if (!plan || choices_.find(ConvolutionChoices::key_of(*plan)) || out->count() == 0) continue;
    const std::string key = ConvolutionChoices::key_of(*plan);
    if (!std::exchange(is_warm, true)) WEFT_CO_OK(co_await warm_up(device_));
    const auto candidates = convolution_candidates(*plan);
    std::optional<double> best;
    for (const ConvolutionTiles& tiles : candidates) {
      ConvolutionChoices one;
      one.set(key, tiles);
      const KernelContext context{.graph = graph_, .inference = inference, .choices = &one};
      const auto kernels = convolution_kernels(context, node, *call, {});
      if (!kernels || kernels->size() != 1) break;
      WEFT_CO_ASSIGN(const double seconds, co_await seconds_of(device_, context, kernels->front()));
      if (best && *best <= seconds) continue;
      best = seconds;
      choices_.set(key, tiles);
    }
  }
  co_return Result<>();
}

}  // namespace weft::onnx
