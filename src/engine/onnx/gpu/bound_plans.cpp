#include "engine/onnx/gpu/bound_plans.h"

#include <algorithm>
#include <utility>

namespace weft::onnx {

Async<Result<ModelPlan*>> BoundPlans::plan_for(const std::vector<Tensor>& inputs) {
  std::string key = rules_.key_of(inputs);
  auto found = plans_.find(key);
  if (found == plans_.end()) {
    if (released_)
      co_return fail(ErrorCode::unsupported,
                     "The model is bound to other input shapes, and its weights are only on the "
                     "GPU; open the model again for these shapes.");
    WEFT_CO_ASSIGN(auto plan, co_await binder_.bind(inputs));
    if (options_.release_constants) release_constants(*plan);
    while (plans_.size() >= options_.plans_max)
      plans_.erase(std::ranges::min_element(
          plans_, {}, [](const auto& entry) { return entry.second->last_use; }));
    plan->number = ++plans_bound_;
    found = plans_.emplace(std::move(key), std::move(plan)).first;
  }
  found->second->last_use = ++uses_;
  co_return found->second.get();
}

void BoundPlans::release_constants(ModelPlan& plan) {
  // True for the constants that the processor reads in later runs.
  std::vector<bool> needed(graph_.values.size());
  for (const ValueId id : graph_.outputs) needed[id] = true;
  for (const Step& step : plan.schedule.steps)
    if (step.kind == Step::Kind::processor)
      for (const ValueId id : step.node->inputs)
        if (id != no_value) needed[id] = true;
  for (ValueId id = 0; id < graph_.values.size(); ++id) {
    std::optional<Tensor>& constant = graph_.values[id].constant;
    if (!constant || needed[id]) continue;
    constant = constant->without_bytes();
    plan.inference.values[id] = *constant;
  }
  for (Step& step : plan.schedule.steps)
    for (Kernel& kernel : step.kernels)
      for (KernelInput& input : kernel.inputs) input.data.reset();
  released_ = true;
}

void BoundPlans::clear_values() {
  for (const auto& [key, plan] : plans_) {
    if (plan->recording) {  // The encoder still has the commands of a run that failed.
      device_.submit(std::move(plan->encoder));
      plan->recording = false;
    }
    gpu::Encoder encoder = device_.create_encoder("onnx clear");
    for (const gpu::Buffer& slot : plan->slots) encoder.clear(slot, 0, slot.size());
    if (plan->staging_bytes > 0) encoder.clear(plan->staging, 0, plan->staging_bytes);
    std::ranges::fill(plan->words, 0);
    plan->clear_uploads(device_);
    device_.submit(std::move(encoder));
  }
}

}  // namespace weft::onnx
