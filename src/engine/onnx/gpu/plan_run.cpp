#include "engine/onnx/gpu/plan_run.h"

#include <algorithm>

#include "engine/onnx/gpu/stored_kernel.h"
#include "engine/onnx/operators/prepare.h"

namespace weft::onnx {
namespace {

// True if the bytes of a tensor of this type are stored on a GPU without a conversion.
bool is_stored_as_it_is(ElementType type) {
  return type == ElementType::f32 || type == ElementType::i32 || type == ElementType::u32;
}

}  // namespace

std::uint64_t PlanRun::bytes_of(ValueId id) const {
  return onnx::bytes_of(context_, plan_.schedule, id);
}
bool PlanRun::is_half(ValueId id) const { return plan_.schedule.half[id]; }

const gpu::Buffer& PlanRun::slot_of(ValueId id) const {
  return plan_.slots[plan_.memory.slot_of[id]];
}

gpu::Encoder& PlanRun::encoder() {
  if (!plan_.recording) plan_.encoder = device_.create_encoder("onnx");
  plan_.recording = true;
  return plan_.encoder;
}

void PlanRun::submit() {
  if (!plan_.recording) return;
  device_.submit(std::move(plan_.encoder));
  plan_.recording = false;
  if (plan_.uploads) plan_.uploads->submitted();
  ++statistics_.submits;
}

const Tensor* PlanRun::on_host(ValueId id) const {
  if (id == no_value) return nullptr;
  if (plan_.host[id]) return &*plan_.host[id];
  const auto& known = plan_.inference.values[id];
  return known && known->has_bytes() ? &*known : nullptr;
}

Result<> PlanRun::upload(ValueId id, const Tensor& value) {
  if (plan_.memory.slot_of[id] == MemoryPlan::none) return {};
  if (is_stored_as_it_is(value.type()) && !is_half(id)) {
    device_.write(slot_of(id), 0, value.bytes());
    return {};
  }
  auto words = storage_of(value);
  if (!words)
    return fail(ErrorCode::unsupported,
                "The value '{}' holds integers that do not fit into 32 bits.", graph_.name(id));
  if (is_half(id)) words = bounded_halves_of(*words);
  if (!words->empty())
    device_.write(slot_of(id), 0, weft::as_bytes(std::span<const std::uint32_t>(*words)));
  return {};
}

Result<> PlanRun::copy_from(ValueId id, const gpu::Buffer& buffer) {
  if (plan_.memory.slot_of[id] == MemoryPlan::none) {  // No kernel reads this input.
    for (const Step& step : plan_.schedule.steps)
      if (step.kind != Step::Kind::kernels && std::ranges::contains(step.node->inputs, id))
        return fail(ErrorCode::unsupported,
                    "The processor computes node '{}' ({}) from the input '{}'; give its values as "
                    "bytes.",
                    step.node->name, step.node->op, graph_.name(id));
    return {};
  }
  const auto bytes = static_cast<std::uint64_t>(plan_.inference.values[id]->count()) * 4;
  if (bytes > 0) encoder().copy(buffer, 0, slot_of(id), 0, bytes);
  return {};
}

Result<> PlanRun::take(std::vector<Tensor> inputs, std::span<const gpu::Buffer* const> buffers) {
  plan_.host.assign(graph_.values.size(), std::nullopt);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const ValueId id = graph_.input_ids[i];
    if (buffers[i] != nullptr) {
      WEFT_OK(copy_from(id, *buffers[i]));
      continue;
    }
    const bool is_large = plan_.uploads != nullptr && is_stored_as_it_is(inputs[i].type()) &&
                          inputs[i].byte_count() >= ModelPlan::large_input_bytes &&
                          plan_.memory.slot_of[id] != MemoryPlan::none;
    if (is_large && !plan_.input_is_known[i])
      plan_.uploads->write(encoder(), slot_of(id), inputs[i].bytes());
    else if (!plan_.input_is_known[i])
      WEFT_OK(upload(id, inputs[i]));
    plan_.host[id] = std::move(inputs[i]);
  }
  return {};
}

Async<Result<>> PlanRun::compute() {
  std::optional<gpu::Pass> pass;  // All kernels of a submit share one pass.
  for (ModelPlan::BoundStep& bound : plan_.steps) {
    const Step& step = *bound.step;
    if (step.kind == Step::Kind::kernels) {
      if (!pass) pass.emplace(encoder().begin_pass());
      for (const ModelPlan::Dispatch& dispatch : bound.dispatches)
        pass->run(*dispatch.pipeline, {&dispatch.group}, dispatch.workgroups);
      continue;
    }
    if (step.kind == Step::Kind::alias) {
      // The alias is on the host only if its source is.
      const Tensor* source = on_host(step.node->inputs[0]);
      const ValueId id = step.node->outputs[0];
      if (source != nullptr) plan_.host[id] = source->reshaped(plan_.inference.values[id]->shape());
      continue;
    }
    // The recorded commands must be submitted first: a write is executed before them, and they may
    // still read the slot that it overwrites.
    pass.reset();
    WEFT_CO_OK(co_await on_processor(*step.node));
  }
  co_return Result<>();
}

// Runs a node on the processor: reads its inputs back and uploads its outputs.
Async<Result<>> PlanRun::on_processor(const Node& node) {
  std::vector<ValueId> needed;
  for (const ValueId id : node.inputs)
    if (id != no_value) needed.push_back(id);
  WEFT_CO_OK(co_await fetch(std::move(needed)));
  submit();
  std::vector<const Tensor*> given;
  for (const ValueId id : node.inputs) given.push_back(on_host(id));
  WEFT_CO_ASSIGN(auto outputs, run_node(graph_, node, given, false));
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    const ValueId id = node.outputs[i];
    if (id == no_value) continue;
    WEFT_CO_OK(upload(id, *outputs[i]));
    plan_.host[id] = std::move(outputs[i]);
  }
  statistics_.processor_nodes.push_back(weft::format("{} ({})", node.name, node.op));
  co_return Result<>();
}

Async<Result<>> PlanRun::fetch(std::vector<ValueId> wanted) {
  std::vector<ValueId> ids;
  for (const ValueId id : wanted)
    if (on_host(id) == nullptr && !std::ranges::contains(ids, id)) ids.push_back(id);
  if (ids.empty()) co_return Result<>();
  std::uint64_t offset = 0;
  for (const ValueId id : ids) {
    const std::uint64_t bytes = bytes_of(id);
    if (bytes > 0)
      encoder().copy(slot_of(id), first_byte_of(plan_.schedule, id), plan_.staging, offset, bytes);
    offset += padded(bytes);
  }
  encoder();  // Begins a submit even if there is no byte to copy.
  submit();
  // A single large value is read directly into its tensor, because new memory and copies of
  // megabytes take longer than the kernels of a small model.
  if (const auto& about = plan_.inference.values[ids[0]];
      ids.size() == 1 && !plan_.schedule.bounded.contains(ids[0]) &&
      is_stored_as_it_is(about->type()) && !is_half(ids[0])) {
    WEFT_CO_ASSIGN(Tensor value, Tensor::create(about->type(), about->shape()));
    if (value.byte_count() > 0)
      WEFT_CO_OK(co_await device_.read(plan_.staging, 0, value.mutable_bytes()));
    plan_.host[ids[0]] = std::move(value);
    co_return Result<>();
  }
  std::vector<std::uint32_t>& words = plan_.words;
  words.resize(offset / 4);
  WEFT_CO_OK(co_await device_.read(
      plan_.staging, 0, {reinterpret_cast<std::uint8_t*>(words.data()), words.size() * 4}));
  offset = 0;
  for (const ValueId id : ids) {
    const auto count = static_cast<std::size_t>(bytes_of(id) / 4);
    const auto here = std::span<const std::uint32_t>(words).subspan(offset / 4, count);
    if (const auto bound = plan_.schedule.bounded.find(id); bound != plan_.schedule.bounded.end()) {
      WEFT_CO_ASSIGN(plan_.host[id], bound->second.read(here));
    } else {
      const Tensor& about = *plan_.inference.values[id];
      WEFT_CO_ASSIGN(plan_.host[id],
                     is_half(id)
                         ? tensor_of(about.type(), about.shape(),
                                     floats_of(here, static_cast<std::size_t>(about.count())))
                         : tensor_of(about.type(), about.shape(), here));
    }
    offset += padded(count * 4);
  }
  co_return Result<>();
}

Result<std::vector<Tensor>> PlanRun::outputs() const {
  std::vector<Tensor> out;
  for (const ValueId id : graph_.outputs) {
    const Tensor* value = on_host(id);
    if (value == nullptr)
      return fail(ErrorCode::internal, "The output '{}' was not computed.", graph_.name(id));
    out.push_back(*value);
  }
  return out;
}

std::optional<GpuModel::DeviceOutputs> PlanRun::outputs_on_device() const {
  GpuModel::DeviceOutputs out{.plan = plan_.number, .values = {}, .about = {}};
  for (const ValueId id : graph_.outputs) {
    if (on_host(id) != nullptr || plan_.memory.slot_of[id] == MemoryPlan::none ||
        plan_.schedule.bounded.contains(id) ||
        !is_stored_as_it_is(plan_.inference.values[id]->type()) || is_half(id) || bytes_of(id) == 0)
      return std::nullopt;
    out.values.push_back({.binding = static_cast<std::uint32_t>(out.values.size()),
                          .buffer = slot_of(id),
                          .offset = first_byte_of(plan_.schedule, id),
                          .size = bytes_of(id)});
    out.about.push_back(&*plan_.inference.values[id]);
  }
  return out;
}

}  // namespace weft::onnx
