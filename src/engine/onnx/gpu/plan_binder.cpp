#include "engine/onnx/gpu/plan_binder.h"

#include <algorithm>
#include <utility>

#include "engine/onnx/gpu/stored_kernel.h"
#include "engine/onnx/gpu/tune.h"

namespace weft::onnx {
namespace {

using gpu::BufferUsage;

// Lets kernels compute outputs of the graph that follow from shapes alone, if no node needs to know
// their values.
void leave_to_kernels(const Graph& graph, Inference& inference) {
  static constexpr std::string_view generators[] = {"ConstantOfShape", "OneHot", "Range", "Shape",
                                                    "Size"};
  for (const Node& node : graph.nodes) {
    const ValueId id = node.outputs[0];
    if (!std::ranges::contains(generators, node.op) || id == no_value || !inference.values[id] ||
        !std::ranges::contains(graph.outputs, id) ||
        std::ranges::any_of(graph.nodes, [&](const Node& reader) {
          return std::ranges::contains(reader.inputs, id);
        }))
      continue;
    inference.values[id] = inference.values[id]->without_bytes();
  }
}

gpu::GroupLayout layout_of(const Kernel& kernel) {
  gpu::GroupLayout layout;
  for (std::uint32_t i = 0; i < kernel.inputs.size() + kernel.outputs.size(); ++i)
    layout.push_back(
        {i, i < kernel.inputs.size() ? gpu::BindingKind::storage_read : gpu::BindingKind::storage});
  return layout;
}

}  // namespace

gpu::Buffer PlanBinder::buffer_of(std::span<const std::uint32_t> words) const {
  gpu::Buffer buffer = device_.create_buffer(
      {.size = padded(words.size() * 4),
       .usage = BufferUsage::storage | BufferUsage::copy_source | BufferUsage::copy_destination,
       .label = "onnx constant"});
  if (!words.empty()) device_.write(buffer, 0, weft::as_bytes(words));
  return buffer;
}

const gpu::Buffer& PlanBinder::constant(ModelPlan& plan, ValueId id) {
  auto& held = graph_.values[id].constant ? weights_ : plan.known;
  if (const auto found = held.find(id); found != held.end()) return found->second;
  const auto words = storage_of(*plan.inference.values[id]);
  check(words.has_value(), "a kernel reads values that fit");
  return held.emplace(id, buffer_of(plan.schedule.half[id] ? bounded_halves_of(*words) : *words))
      .first->second;
}

Async<Result<>> PlanBinder::infer_values(ModelPlan& plan, const std::vector<Tensor>& inputs) {
  std::vector<Tensor> shapes;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const bool known = rules_.is_known(i, inputs[i]);
    plan.input_is_known.push_back(known);
    shapes.push_back(known ? inputs[i] : inputs[i].without_bytes());
  }
  WEFT_CO_ASSIGN(plan.inference, infer(graph_, std::move(shapes)));
  leave_to_kernels(graph_, plan.inference);
  if (options_.measure_convolutions)
    WEFT_CO_OK(
        co_await tune_convolutions(device_, graph_, plan.inference, options_.halves, choices_));
  co_return Result<>();
}

std::vector<bool> PlanBinder::kept_values() const {
  std::vector<bool> kept(graph_.values.size(), options_.keep_all);
  for (const ValueId id : graph_.outputs) kept[id] = true;
  return kept;
}

void PlanBinder::make_steps(ModelPlan& plan, const std::vector<Tensor>& inputs) const {
  std::vector<std::optional<IntegerRange>> ranges;
  for (const Tensor& input : inputs) ranges.push_back(widened_range(input));
  const KernelContext context = context_of(plan);
  const gpu::Limits& limits = device_.limits();
  plan.schedule = make_schedule(
      context,
      {.fuse = options_.fuse,
       .place_apart = !options_.keep_all,
       .barrier = options_.barrier,
       .bindings_max = limits.storage_buffers_per_stage_max,
       .binding_bytes_max = std::min<std::uint64_t>(
           {limits.storage_binding_bytes_max, limits.buffer_bytes_max, std::uint64_t{1} << 31}),
       .halves = options_.halves,
       .input_ranges = ranges});
  plan.memory = plan_memory(context, plan.schedule, kept_values());
}

Result<> PlanBinder::check_value_bytes(const MemoryPlan& memory) const {
  if (options_.value_bytes_max == 0) return {};
  std::uint64_t left = options_.value_bytes_max;
  for (const std::uint64_t bytes : memory.slot_bytes) {
    if (bytes > left)
      return fail(ErrorCode::resource_exhausted,
                  "The model's values take more than the {} bytes that a task may take "
                  "(bytes_max).",
                  options_.value_bytes_max);
    left -= bytes;
  }
  return {};
}

void PlanBinder::make_slots(ModelPlan& plan) const {
  for (const std::uint64_t bytes : plan.memory.slot_bytes)
    plan.slots.push_back(device_.create_buffer(
        {.size = bytes,
         .usage = BufferUsage::storage | BufferUsage::copy_source | BufferUsage::copy_destination,
         .label = "onnx values"}));
}

gpu::BoundBuffer PlanBinder::value_at(std::uint32_t binding, const ModelPlan& plan,
                                      ValueId id) const {
  const gpu::Buffer& slot = plan.slots[plan.memory.slot_of[id]];
  if (plan.schedule.apart[id].block > 0) return {.binding = binding, .buffer = slot};
  const std::uint64_t offset = first_byte_of(plan.schedule, id);
  if (offset == 0) return {.binding = binding, .buffer = slot};
  return {.binding = binding,
          .buffer = slot,
          .offset = offset,
          .size = bytes_of(context_of(plan), plan.schedule, id)};
}

std::vector<gpu::BoundBuffer> PlanBinder::buffers_of(ModelPlan& plan, const Kernel& kernel,
                                                     DataPlaces& data) {
  std::vector<gpu::BoundBuffer> buffers;
  std::uint32_t binding = 0;
  for (const KernelInput& input : kernel.inputs) {
    if (input.value == no_value) {
      const auto [place, is_new] = data.emplace(input.data.get(), plan.data.size());
      if (is_new) plan.data.push_back(buffer_of(*input.data));
      buffers.push_back({.binding = binding++, .buffer = plan.data[place->second]});
    } else if (const auto& value = plan.inference.values[input.value];
               value && value->has_bytes()) {
      buffers.push_back({.binding = binding++, .buffer = constant(plan, input.value)});
    } else {
      buffers.push_back(value_at(binding++, plan, input.value));
    }
  }
  for (const ValueId id : kernel.outputs) buffers.push_back(value_at(binding++, plan, id));
  return buffers;
}

Async<Result<>> PlanBinder::bind_steps(ModelPlan& plan) {
  DataPlaces data;
  for (const Step& step : plan.schedule.steps) {
    ModelPlan::BoundStep bound{.step = &step, .dispatches = {}};
    for (const Kernel& kernel : step.kernels) {
      if (kernel.workgroups.x == 0) continue;
      auto pipeline = co_await pipelines_.get(
          {.wgsl = kernel.wgsl, .label = "onnx " + kernel.label, .groups = {layout_of(kernel)}});
      if (!pipeline)
        co_return std::unexpected(
            Error{ErrorCode::internal,
                  weft::format("Node '{}' ({}): its kernel does not compile: {}", step.node->name,
                               kernel.label, pipeline.error().message)});
      const std::vector<gpu::BoundBuffer> buffers = buffers_of(plan, kernel, data);
      bound.dispatches.push_back({.pipeline = *pipeline,
                                  .group = device_.create_bind_group(**pipeline, 0, buffers),
                                  .workgroups = kernel.workgroups});
    }
    plan.dispatches += bound.dispatches.size();
    plan.steps.push_back(std::move(bound));
  }
  co_return Result<>();
}

void PlanBinder::make_staging(ModelPlan& plan) const {
  const KernelContext context = context_of(plan);
  const std::vector<bool> kept = kept_values();
  for (ValueId id = 0; id < graph_.values.size(); ++id)
    if (kept[id] && plan.memory.slot_of[id] != MemoryPlan::none &&
        (plan.schedule.bounded.contains(id) ||
         (plan.inference.values[id] && !plan.inference.values[id]->has_bytes())) &&
        !std::ranges::contains(graph_.input_ids, id))
      plan.fetched_at_end.push_back(id);
  for (const ValueId id : plan.fetched_at_end)
    plan.staging_bytes += padded(bytes_of(context, plan.schedule, id));
  for (const Step& step : plan.schedule.steps) {
    if (step.kind != Step::Kind::processor) continue;
    std::uint64_t bytes = 0;
    for (const ValueId id : step.node->inputs)
      if (id != no_value && (plan.inference.values[id] || plan.schedule.bounded.contains(id)))
        bytes += padded(bytes_of(context, plan.schedule, id));
    plan.staging_bytes = std::max(plan.staging_bytes, bytes);
  }
  if (plan.staging_bytes > 0)
    plan.staging =
        device_.create_buffer({.size = plan.staging_bytes,
                               .usage = BufferUsage::map_read | BufferUsage::copy_destination,
                               .label = "onnx results"});
}

Async<Result<std::unique_ptr<ModelPlan>>> PlanBinder::bind(const std::vector<Tensor>& inputs) {
  if (options_.halves && !device_.has("shader-f16"))
    co_return fail(ErrorCode::unsupported,
                   "This GPU cannot store 16-bit floats: it does not have the feature shader-f16.");
  auto plan = std::make_unique<ModelPlan>();
  WEFT_CO_OK(co_await infer_values(*plan, inputs));
  make_steps(*plan, inputs);
  WEFT_CO_OK(check_value_bytes(plan->memory));
  device_.push_error_scope(gpu::Device::ErrorFilter::out_of_memory);
  make_slots(*plan);
  plan->make_uploads(device_, inputs);
  auto bound = co_await bind_steps(*plan);
  make_staging(*plan);
  auto memory = co_await device_.pop_error_scope();
  if (!bound) co_return pass(std::move(bound));
  if (!memory) co_return pass(std::move(memory), "while making room for the model's values");
  co_return plan;
}

}  // namespace weft::onnx
