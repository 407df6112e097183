// Measures the times of a model's kernels.
#include <algorithm>
#include <chrono>

#include "engine/gpu/measure.h"
#include "engine/onnx/gpu/bound_plans.h"
#include "engine/onnx/gpu/warm_up.h"

namespace weft::onnx {
namespace {

constexpr int runs = 9;  // The result is the median of these runs.
// The time for which a GPU that was idle runs below its full clock.
constexpr double warm_up_seconds = 0.5;

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double middle_of(std::vector<double> times) {
  std::ranges::sort(times);
  return times[times.size() / 2];
}

// Measures the kernels of a plan, all together and each one separately.
Async<Result<>> measure_kernels(gpu::Device& device, const Graph& graph, ModelPlan& plan,
                                GpuModel::Measurement& out) {
  const KernelContext context{.graph = graph, .inference = plan.inference};
  gpu::Meter meter(device);
  const auto all = [&plan](gpu::Pass& pass) {
    for (const ModelPlan::BoundStep& step : plan.steps)
      for (const ModelPlan::Dispatch& dispatch : step.dispatches)
        pass.run(*dispatch.pipeline, {&dispatch.group}, dispatch.workgroups);
  };
  if (plan.dispatches > 0) {
    WEFT_CO_ASSIGN(out.seconds, co_await meter.seconds_each(all, {}));
    std::vector<double> submits, records;
    for (int i = 0; i < runs; ++i) {
      WEFT_CO_ASSIGN(const gpu::Timing timing, co_await meter.time(all));
      submits.push_back(timing.wall_seconds);
      records.push_back(timing.record_seconds + timing.submit_seconds);
    }
    out.submit_seconds = middle_of(std::move(submits));
    out.record_seconds = middle_of(std::move(records));
  }
  for (const ModelPlan::BoundStep& step : plan.steps) {
    std::size_t d = 0;
    for (const Kernel& kernel : step.step->kernels) {
      if (kernel.workgroups.x == 0) continue;
      const ModelPlan::Dispatch& dispatch = step.dispatches[d++];
      GpuModel::KernelTime time{
          .node = step.step->node->name, .label = kernel.label, .seconds = 0, .bytes = 0};
      for (const KernelInput& input : kernel.inputs)
        time.bytes += input.value == no_value ? 4 * input.data->size()
                                              : bytes_of(context, plan.schedule, input.value);
      for (const ValueId id : kernel.outputs) time.bytes += bytes_of(context, plan.schedule, id);
      const auto one = [&dispatch](gpu::Pass& pass) {
        pass.run(*dispatch.pipeline, {&dispatch.group}, dispatch.workgroups);
      };
      WEFT_CO_ASSIGN(time.seconds,
                     co_await meter.seconds_each(one, {.busy_seconds = 0.002, .rounds = 3}));
      out.kernels.push_back(std::move(time));
    }
  }
  co_return Result<>();
}

}  // namespace

Async<Result<>> warm_up(gpu::Device& device) {
  if (device.adapter().kind == gpu::AdapterKind::cpu) co_return Result<>();
  WEFT_CO_ASSIGN(gpu::Workload work, co_await gpu::create_peak(device, gpu::Arithmetic::f32));
  gpu::Meter meter(device);
  const double end = now_s() + warm_up_seconds;
  while (now_s() < end) {
    WEFT_CO_OK((co_await meter.time([&work](gpu::Pass& pass) {
                 for (int i = 0; i < 16; ++i) work.run(pass);
               })).transform([](const gpu::Timing&) {}));
  }
  co_return Result<>();
}

std::uint64_t GpuModel::Measurement::bytes() const {
  std::uint64_t sum = 0;
  for (const KernelTime& kernel : kernels) sum += kernel.bytes;
  return sum;
}

Async<Result<GpuModel::Measurement>> GpuModel::measure(std::vector<Tensor> inputs) {
  Measurement out;
  WEFT_CO_OK(co_await run(inputs));
  WEFT_CO_OK(co_await warm_up(device_));
  std::vector<double> times;
  for (int i = 0; i < runs; ++i) {
    const double begun = now_s();
    WEFT_CO_OK(co_await run(inputs));
    times.push_back(now_s() - begun);
  }
  out.run_seconds = middle_of(std::move(times));
  WEFT_CO_ASSIGN(Plan* const plan, co_await plans_->plan_for(inputs));
  WEFT_CO_OK(co_await measure_kernels(device_, graph_, *plan, out));
  co_return out;
}

}  // namespace weft::onnx
