#include "engine/onnx/gpu/gpu_model.h"

#include <algorithm>
#include <utility>

#include "engine/onnx/gpu/bound_plans.h"
#include "engine/onnx/gpu/plan_run.h"
#include "engine/onnx/gpu/settings.h"
#include "engine/onnx/operators/interpreter.h"

namespace weft::onnx {

bool has_one_plan(const Graph& graph) {
  const std::vector<bool> telling = telling_inputs(graph);
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    const ValueInfo& input = graph.inputs[i];
    if (telling[i] || input.type == ElementType::i64 || !input.shape) return false;
    if (!std::ranges::all_of(*input.shape, [](const Dimension& d) { return d.size.has_value(); }))
      return false;
  }
  return true;
}

GpuModel::GpuModel(gpu::Device& device, Graph graph, Options options)
    : device_(device),
      graph_(std::move(graph)),
      options_(std::move(options)),
      rules_(graph_),
      plans_(std::make_unique<BoundPlans>(device, graph_, rules_, options_)) {}
GpuModel::~GpuModel() = default;

void GpuModel::clear_values() {
  latest_ = nullptr;
  plans_->clear_values();
}

const ConvolutionChoices& GpuModel::choices() const { return plans_->choices(); }

Async<Result<std::vector<Tensor>>> GpuModel::run(std::vector<Tensor> inputs, Observe observe) {
  std::vector<const gpu::Buffer*> none(inputs.size());
  co_return co_await run_on_device(std::move(inputs), std::move(none), std::move(observe));
}

// The references stay valid because run_on_device() and run_around() hold the arguments while they
// await this call.
Async<Result<GpuModel::Plan*>> GpuModel::begin(const std::vector<Tensor>& inputs,
                                               const std::vector<const gpu::Buffer*>& buffers) {
  latest_ = nullptr;
  WEFT_CO_OK(check_inputs(graph_, inputs));
  WEFT_CO_OK(rules_.check_buffers(inputs, buffers));
  WEFT_CO_ASSIGN(Plan* const plan, co_await plans_->plan_for(inputs));
  statistics_ = {.nodes_on_gpu = plan->schedule.nodes_on_gpu,
                 .nodes_on_processor = plan->schedule.nodes_on_processor,
                 .dispatches = plan->dispatches,
                 .submits = 0,
                 .memory_bytes = 0,
                 .unshared_bytes = plan->memory.unshared_bytes,
                 .processor_nodes = {}};
  for (const std::uint64_t bytes : plan->memory.slot_bytes) statistics_.memory_bytes += bytes;
  co_return plan;
}

Async<Result<std::vector<Tensor>>> GpuModel::run_on_device(std::vector<Tensor> inputs,
                                                           std::vector<const gpu::Buffer*> buffers,
                                                           Observe observe) {
  WEFT_CO_ASSIGN(Plan* const plan, co_await begin(inputs, buffers));
  PlanRun run(device_, graph_, *plan, statistics_);
  WEFT_CO_OK(run.take(std::move(inputs), buffers));
  WEFT_CO_OK(co_await run.compute());
  WEFT_CO_OK(co_await run.fetch(plan->fetched_at_end));
  if (observe) {
    for (const Node& node : graph_.nodes)
      for (const ValueId id : node.outputs)
        if (const Tensor* value = run.on_host(id); value != nullptr) observe(node, id, *value);
  }
  auto out = run.outputs();
  plan->host.assign(graph_.values.size(), std::nullopt);
  co_return out;
}

Async<Result<bool>> GpuModel::run_around(std::vector<Tensor> inputs,
                                         std::vector<const gpu::Buffer*> buffers, Around around) {
  WEFT_CO_ASSIGN(Plan* const plan, co_await begin(inputs, buffers));
  PlanRun run(device_, graph_, *plan, statistics_);
  if (around.before) around.before(run.encoder());
  WEFT_CO_OK(run.take(std::move(inputs), buffers));
  WEFT_CO_OK(co_await run.compute());
  const auto outputs = run.outputs_on_device();
  if (outputs) around.after(run.encoder(), *outputs);
  run.submit();
  latest_ = plan;
  co_return outputs.has_value();
}

Async<Result<std::vector<Tensor>>> GpuModel::outputs() {
  if (latest_ == nullptr)
    co_return fail(ErrorCode::not_found,
                   "The model has no outputs: it has not run, or its outputs were already taken.");
  Plan& plan = *std::exchange(latest_, nullptr);
  PlanRun run(device_, graph_, plan, statistics_);
  WEFT_CO_OK(co_await run.fetch(plan.fetched_at_end));
  auto out = run.outputs();
  plan.host.assign(graph_.values.size(), std::nullopt);
  co_return out;
}

}  // namespace weft::onnx
