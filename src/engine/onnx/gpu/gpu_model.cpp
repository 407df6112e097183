#include "engine/onnx/gpu/gpu_model.h"

#include <algorithm>
#include <utility>

#include "engine/onnx/gpu/plan_run.h"
#include "engine/onnx/gpu/settings.h"
#include "engine/onnx/gpu/stored_kernel.h"
#include "engine/onnx/operators/interpreter.h"

namespace weft::onnx {
namespace {

using gpu::BufferUsage;

// Small inputs may say what shapes there are.
constexpr std::int64_t telling_elements_max = 64;
constexpr std::uint64_t telling_bytes_max = 64 << 10;

// Results of the graph that follow from shapes alone are written by kernels as other results are,
// where no node needs to know them.
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

}  // namespace

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
      telling_(telling_inputs(graph_)),
      choices_(options_.choices),
      pipelines_(device, {.pipelines_max = 4096}) {}
GpuModel::~GpuModel() = default;

gpu::Buffer GpuModel::buffer_of(std::span<const std::uint32_t> words) {
  gpu::Buffer buffer = device_.create_buffer(
      {.size = padded(words.size() * 4),
       .usage = BufferUsage::storage | BufferUsage::copy_source | BufferUsage::copy_destination,
       .label = "onnx constant"});
  if (!words.empty()) device_.write(buffer, 0, weft::as_bytes(words));
  return buffer;
}

Result<const gpu::Buffer*> GpuModel::constant(Plan& plan, ValueId id) {
  auto& held = graph_.values[id].constant ? weights_ : plan.known;
  if (const auto found = held.find(id); found != held.end()) return &found->second;
  const auto words = storage_of(*plan.inference.values[id]);
  check(words.has_value(), "a kernel reads values that fit");
  return &held.emplace(id, buffer_of(plan.schedule.half[id] ? bounded_halves_of(*words) : *words))
              .first->second;
}

Async<Result<std::unique_ptr<GpuModel::Plan>>> GpuModel::bind(const std::vector<Tensor>& inputs) {
  if (options_.halves && !device_.has("shader-f16"))
    co_return fail(ErrorCode::unsupported,
                   "This GPU stores no 16-bit floats: it has no shader-f16.");
  auto plan = std::make_unique<Plan>();
  std::vector<Tensor> shapes;
  std::vector<std::optional<IntegerRange>> ranges;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const bool known = is_known(i, inputs[i]);
    plan->input_is_known.push_back(known);
    shapes.push_back(known ? inputs[i] : inputs[i].without_bytes());
    ranges.push_back(widened_range(inputs[i]));
  }
  WEFT_CO_ASSIGN(plan->inference, infer(graph_, std::move(shapes)));
  leave_to_kernels(graph_, plan->inference);
  if (options_.measure_convolutions) WEFT_CO_OK(co_await tune(plan->inference));
  const KernelContext context{.graph = graph_,
                              .inference = plan->inference,
                              .choices = &choices_,
                              .halves = options_.halves};
  const gpu::Limits& limits = device_.limits();
  plan->schedule = make_schedule(
      context,
      {.fuse = options_.fuse,
       .place_apart = !options_.keep_all,
       .barrier = options_.barrier,
       .bindings_max = limits.storage_buffers_per_stage_max,
       .binding_bytes_max = std::min<std::uint64_t>(
           {limits.storage_binding_bytes_max, limits.buffer_bytes_max, std::uint64_t{1} << 31}),
       .halves = options_.halves,
       .input_ranges = ranges});
  std::vector<bool> kept(graph_.values.size(), options_.keep_all);
  for (const ValueId id : graph_.outputs) kept[id] = true;
  plan->memory = plan_memory(context, plan->schedule, kept);

  if (options_.value_bytes_max > 0) {
    std::uint64_t left = options_.value_bytes_max;
    for (const std::uint64_t bytes : plan->memory.slot_bytes) {
      if (bytes > left)
        co_return fail(ErrorCode::resource_exhausted,
                       "The model's values take more than the {} bytes that a task may take "
                       "(bytes_max).",
                       options_.value_bytes_max);
      left -= bytes;
    }
  }
  device_.push_error_scope(gpu::Device::ErrorFilter::out_of_memory);
  for (const std::uint64_t bytes : plan->memory.slot_bytes)
    plan->slots.push_back(device_.create_buffer(
        {.size = bytes,
         .usage = BufferUsage::storage | BufferUsage::copy_source | BufferUsage::copy_destination,
         .label = "onnx values"}));
  const auto bound_value = [&](std::uint32_t binding, ValueId id) -> gpu::BoundBuffer {
    const gpu::Buffer& slot = plan->slots[plan->memory.slot_of[id]];
    if (plan->schedule.apart[id].block > 0) return {.binding = binding, .buffer = slot};
    const std::uint64_t offset = first_byte_of(plan->schedule, id);
    if (offset == 0) return {.binding = binding, .buffer = slot};
    return {.binding = binding,
            .buffer = slot,
            .offset = offset,
            .size = bytes_of(context, plan->schedule, id)};
  };
  plan->make_uploads(device_, inputs);
  Result<> failed;
  std::map<const void*, std::size_t> data_of;
  for (const Step& step : plan->schedule.steps) {
    Plan::BoundStep bound{.step = &step, .dispatches = {}};
    for (const Kernel& kernel : step.kernels) {
      if (kernel.workgroups.x == 0) continue;
      gpu::GroupLayout layout;
      for (std::uint32_t i = 0; i < kernel.inputs.size() + kernel.outputs.size(); ++i)
        layout.push_back({i, i < kernel.inputs.size() ? gpu::BindingKind::storage_read
                                                      : gpu::BindingKind::storage});
      auto pipeline = co_await pipelines_.get(
          {.wgsl = kernel.wgsl, .label = "onnx " + kernel.label, .groups = {layout}});
      if (!pipeline) {
        failed = std::unexpected(
            Error{ErrorCode::internal,
                  weft::format("Node '{}' ({}): its kernel does not compile: {}", step.node->name,
                               kernel.label, pipeline.error().message)});
        break;
      }
      std::vector<gpu::BoundBuffer> buffers;
      std::uint32_t binding = 0;
      for (const KernelInput& input : kernel.inputs) {
        const gpu::Buffer* buffer = nullptr;
        if (input.value == no_value) {
          auto [place, is_new] = data_of.emplace(input.data.get(), plan->data.size());
          if (is_new) plan->data.push_back(buffer_of(*input.data));
          buffer = &plan->data[place->second];
        } else if (const auto& value = plan->inference.values[input.value];
                   value && value->has_bytes()) {
          const auto held = constant(*plan, input.value);
          buffer = *held;
        } else {
          buffers.push_back(bound_value(binding++, input.value));
          continue;
        }
        buffers.push_back({.binding = binding++, .buffer = *buffer});
      }
      for (const ValueId id : kernel.outputs) buffers.push_back(bound_value(binding++, id));
      bound.dispatches.push_back({.pipeline = *pipeline,
                                  .group = device_.create_bind_group(**pipeline, 0, buffers),
                                  .workgroups = kernel.workgroups});
    }
    plan->dispatches += bound.dispatches.size();
    plan->steps.push_back(std::move(bound));
    if (!failed) break;
  }
  // What leaves the GPU at the end.
  for (ValueId id = 0; id < graph_.values.size(); ++id)
    if (kept[id] && plan->memory.slot_of[id] != MemoryPlan::none &&
        (plan->schedule.bounded.contains(id) ||
         (plan->inference.values[id] && !plan->inference.values[id]->has_bytes())) &&
        !std::ranges::contains(graph_.input_ids, id))
      plan->fetched_at_end.push_back(id);
  for (const ValueId id : plan->fetched_at_end)
    plan->staging_bytes += padded(bytes_of(context, plan->schedule, id));
  for (const Step& step : plan->schedule.steps) {
    if (step.kind != Step::Kind::processor) continue;
    std::uint64_t bytes = 0;
    for (const ValueId id : step.node->inputs)
      if (id != no_value && (plan->inference.values[id] || plan->schedule.bounded.contains(id)))
        bytes += padded(bytes_of(context, plan->schedule, id));
    plan->staging_bytes = std::max(plan->staging_bytes, bytes);
  }
  if (plan->staging_bytes > 0)
    plan->staging =
        device_.create_buffer({.size = plan->staging_bytes,
                               .usage = BufferUsage::map_read | BufferUsage::copy_destination,
                               .label = "onnx results"});
  auto memory = co_await device_.pop_error_scope();
  if (!failed) co_return pass(std::move(failed));
  if (!memory) co_return pass(std::move(memory), "while making room for the model's values");
  co_return plan;
}

bool GpuModel::is_known(std::size_t input, const Tensor& value) const {
  return telling_[input] &&
         (value.type() == ElementType::i64 ? value.byte_count() <= telling_bytes_max
                                           : value.count() <= telling_elements_max);
}

Async<Result<GpuModel::Plan*>> GpuModel::plan_for(const std::vector<Tensor>& inputs) {
  std::string key;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& input = inputs[i];
    key += weft::format("{}{};", to_string(input.type()), to_string(input.shape()));
    if (is_known(i, input))
      key.append(weft::as_text(input.bytes()));
    else if (input.type() == ElementType::i64)
      key += weft::format("{};", widened_range(input)->high);
  }
  auto found = plans_.find(key);
  if (found == plans_.end()) {
    if (released_)
      co_return fail(ErrorCode::unsupported,
                     "The model is bound to other input shapes, and its weights are on the GPU "
                     "alone; open it again for these.");
    WEFT_CO_ASSIGN(auto plan, co_await bind(inputs));
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

void GpuModel::release_constants(Plan& plan) {
  std::vector<bool> needed(graph_.values.size());  // On the processor, in runs to come.
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

Result<> GpuModel::check_buffers(std::span<const Tensor> inputs,
                                 std::span<const gpu::Buffer* const> buffers) const {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::string& name = graph_.inputs[i].name;
    if (buffers[i] == nullptr) {
      if (!inputs[i].has_bytes())
        return fail(ErrorCode::invalid_argument, "The input '{}' has no values.", name);
      continue;
    }
    if (telling_[i] || inputs[i].type() == ElementType::i64)
      return fail(ErrorCode::unsupported,
                  "The values of the input '{}' decide how the model is bound, so that they cannot "
                  "be on the GPU alone; give them as bytes.",
                  name);
    if (const auto bytes = static_cast<std::uint64_t>(inputs[i].count()) * 4;
        buffers[i]->size() < bytes)
      return fail(ErrorCode::invalid_argument,
                  "The buffer of the input '{}' has {} bytes; shape {} takes {}.", name,
                  buffers[i]->size(), to_string(inputs[i].shape()), bytes);
  }
  return {};
}

void GpuModel::clear_values() {
  latest_ = nullptr;
  for (const auto& [key, plan] : plans_) {
    if (plan->recording) {  // By a run that failed.
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

Async<Result<std::vector<Tensor>>> GpuModel::run(std::vector<Tensor> inputs, Observe observe) {
  std::vector<const gpu::Buffer*> none(inputs.size());
  co_return co_await run_on_device(std::move(inputs), std::move(none), std::move(observe));
}

// The references are to what run_on_device() and run_around() hold while they await this.
Async<Result<GpuModel::Plan*>> GpuModel::begin(const std::vector<Tensor>& inputs,
                                               const std::vector<const gpu::Buffer*>& buffers) {
  latest_ = nullptr;
  WEFT_CO_OK(check_inputs(graph_, inputs));
  WEFT_CO_OK(check_buffers(inputs, buffers));
  WEFT_CO_ASSIGN(Plan* const plan, co_await plan_for(inputs));
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
    co_return fail(ErrorCode::not_found, "The model has not run, or its outputs were given.");
  Plan& plan = *std::exchange(latest_, nullptr);
  PlanRun run(device_, graph_, plan, statistics_);
  WEFT_CO_OK(co_await run.fetch(plan.fetched_at_end));
  auto out = run.outputs();
  plan.host.assign(graph_.values.size(), std::nullopt);
  co_return out;
}

}  // namespace weft::onnx
