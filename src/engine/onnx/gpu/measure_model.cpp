// Times of a model's kernels.
#include <algorithm>
#include <chrono>

#include "engine/gpu/measure.h"
#include "engine/onnx/gpu/plan.h"

namespace weft::onnx {
namespace {

constexpr int runs = 5;  // The middle one counts.

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

std::uint64_t GpuModel::Measurement::bytes() const {
  std::uint64_t sum = 0;
  for (const KernelTime& kernel : kernels) sum += kernel.bytes;
  return sum;
}

Async<Result<GpuModel::Measurement>> GpuModel::measure(std::vector<Tensor> inputs) {
  Measurement out;
  WEFT_CO_OK(co_await run(inputs));
  std::vector<double> times;
  for (int i = 0; i < runs; ++i) {
    const double begun = now_s();
    WEFT_CO_OK(co_await run(inputs));
    times.push_back(now_s() - begun);
  }
  std::ranges::sort(times);
  out.run_seconds = times[runs / 2];
  WEFT_CO_ASSIGN(Plan* const plan, co_await plan_for(inputs));
  const KernelContext context{.graph = graph_, .inference = plan->inference};
  gpu::Meter meter(device_);
  const auto all = [plan](gpu::Pass& pass) {
    for (const Plan::BoundStep& step : plan->steps)
      for (const Plan::Dispatch& dispatch : step.dispatches)
        pass.run(*dispatch.pipeline, {&dispatch.group}, dispatch.workgroups);
  };
  if (plan->dispatches > 0) {
    WEFT_CO_ASSIGN(out.seconds, co_await meter.seconds_each(all, {}));
  }
  for (const Plan::BoundStep& step : plan->steps) {
    std::size_t d = 0;
    for (const Kernel& kernel : step.step->kernels) {
      if (kernel.workgroups.x == 0) continue;
      const Plan::Dispatch& dispatch = step.dispatches[d++];
      KernelTime time{
          .node = step.step->node->name, .label = kernel.label, .seconds = 0, .bytes = 0};
      for (const KernelInput& input : kernel.inputs)
        time.bytes +=
            4 * (input.value == no_value ? input.data->size()
                                         : words_of(context, plan->schedule, input.value));
      for (const ValueId id : kernel.outputs)
        time.bytes += 4 * words_of(context, plan->schedule, id);
      const auto one = [&dispatch](gpu::Pass& pass) {
        pass.run(*dispatch.pipeline, {&dispatch.group}, dispatch.workgroups);
      };
      WEFT_CO_ASSIGN(time.seconds,
                     co_await meter.seconds_each(one, {.busy_seconds = 0.002, .rounds = 3}));
      out.kernels.push_back(std::move(time));
    }
  }
  co_return out;
}

}  // namespace weft::onnx
