#include "engine/onnx/gpu/program.h"

#include <algorithm>
#include <map>

namespace weft::onnx {
namespace {

// The alignment, in bytes, that WebGPU requires for the offset of a part of a buffer.
constexpr std::size_t slice_alignment = 256;

class Compiler {
 public:
  Compiler(const Graph& graph, const Inference& inference, const Schedule& schedule,
           const MemoryPlan& memory)
      : graph_(graph), inference_(inference), schedule_(schedule), memory_(memory) {}

  Result<Program> run() {
    for (const std::uint64_t bytes : memory_.slot_bytes)
      out_.buffers.push_back({.bytes = bytes, .weights_offset = std::nullopt});
    for (std::size_t i = 0; i < graph_.input_ids.size(); ++i) {
      WEFT_ASSIGN(Program::Port port, port_of(graph_.input_ids[i]));
      out_.inputs.push_back(std::move(port));
    }
    for (const onnx::Step& step : schedule_.steps) {
      if (step.kind == onnx::Step::Kind::processor)
        return fail(ErrorCode::unsupported,
                    "Node '{}' ({}) has no GPU kernel for these shapes; a compiled model runs only "
                    "on a GPU.",
                    step.node->name, step.node->op);
      for (const Kernel& kernel : step.kernels)
        if (kernel.workgroups.x > 0) WEFT_OK(add(step, kernel));
    }
    for (const ValueId id : graph_.outputs) {
      if (schedule_.bounded.contains(id))
        return fail(ErrorCode::unsupported,
                    "The shape of the output '{}' depends on values; remove its node from the "
                    "model, and compute the output from the node's inputs.",
                    graph_.name(id));
      WEFT_ASSIGN(Program::Port port, port_of(id));
      out_.outputs.push_back(std::move(port));
    }
    return std::move(out_);
  }

 private:
  Result<std::uint32_t> buffer_of(ValueId id) {
    id = schedule_.alias_of[id];
    const auto& value = inference_.values[id];
    if (value && value->has_bytes()) return constant(id, *value);
    const std::uint32_t slot = memory_.slot_of[id];
    if (slot != MemoryPlan::none) return slot;
    // Inputs that no kernel reads get buffers of their own.
    const auto unused = unused_.emplace(id, static_cast<std::uint32_t>(out_.buffers.size()));
    if (unused.second)
      out_.buffers.push_back(
          {.bytes = std::max<std::uint64_t>(16, static_cast<std::uint64_t>(value->count()) * 4),
           .weights_offset = std::nullopt});
    return unused.first->second;
  }
  Result<std::uint32_t> constant(ValueId id, const Tensor& value) {
    if (const auto found = constants_.find(id); found != constants_.end()) return found->second;
    const auto words = storage_of(value);
    if (!words)
      return fail(ErrorCode::unsupported,
                  "The value '{}' holds integers that do not fit into 32 bits.", graph_.name(id));
    return constants_.emplace(id, add_weights(*words)).first->second;
  }
  std::uint32_t add_weights(std::span<const std::uint32_t> words) {
    out_.weights.resize((out_.weights.size() + slice_alignment - 1) / slice_alignment *
                        slice_alignment);
    const ByteSpan bytes = weft::as_bytes(words);
    out_.buffers.push_back({.bytes = std::max<std::uint64_t>(16, (bytes.size() + 15) / 16 * 16),
                            .weights_offset = out_.weights.size()});
    out_.weights.insert(out_.weights.end(), bytes.begin(), bytes.end());
    out_.weights.resize(*out_.buffers.back().weights_offset + out_.buffers.back().bytes);
    return static_cast<std::uint32_t>(out_.buffers.size() - 1);
  }
  Result<Program::Port> port_of(ValueId id) {
    const auto& value = inference_.values[id];
    WEFT_ASSIGN(const std::uint32_t buffer, buffer_of(id));
    return Program::Port{
        .name = graph_.name(id), .type = value->type(), .shape = value->shape(), .buffer = buffer};
  }
  Result<> add(const onnx::Step& step, const Kernel& kernel) {
    Program::Step made;
    made.label = kernel.label;
    made.nodes = {step.node->name};
    for (const Node* node : step.fused) made.nodes.push_back(node->name);
    const auto [module, is_new] =
        modules_.emplace(kernel.wgsl, static_cast<std::uint32_t>(out_.modules.size()));
    if (is_new) out_.modules.push_back(kernel.wgsl);
    made.module = module->second;
    made.dispatch = {kernel.workgroups.x, kernel.workgroups.y, kernel.workgroups.z};
    for (const KernelInput& input : kernel.inputs) {
      if (input.value != no_value) {
        WEFT_ASSIGN(const std::uint32_t buffer, buffer_of(input.value));
        made.reads.push_back(buffer);
        continue;
      }
      auto data = data_.find(input.data.get());
      if (data == data_.end())
        data = data_.emplace(input.data.get(), add_weights(*input.data)).first;
      made.reads.push_back(data->second);
    }
    for (const ValueId id : kernel.outputs) {
      WEFT_ASSIGN(const std::uint32_t buffer, buffer_of(id));
      made.writes.push_back(buffer);
    }
    out_.steps.push_back(std::move(made));
    return {};
  }

  const Graph& graph_;
  const Inference& inference_;
  const Schedule& schedule_;
  const MemoryPlan& memory_;
  Program out_;
  std::map<std::string, std::uint32_t> modules_;
  std::map<ValueId, std::uint32_t> constants_;
  std::map<ValueId, std::uint32_t> unused_;
  std::map<const void*, std::uint32_t> data_;
};

}  // namespace

Result<Program> compile(const Graph& graph, std::vector<Tensor> inputs,
                        const ScheduleOptions& options) {
  WEFT_ASSIGN(const Inference inference, infer(graph, std::move(inputs)));
  const KernelContext context{.graph = graph, .inference = inference};
  // Parts are not placed, because a Program binds only whole buffers.
  ScheduleOptions whole_buffers = options;
  whole_buffers.place_parts = false;
  const Schedule schedule = make_schedule(context, whole_buffers);
  for (const ValueId id : graph.outputs)
    if (!inference.values[id] && !schedule.bounded.contains(id))
      return fail(ErrorCode::unsupported,
                  "The shape of the output '{}' is not known before it runs.", graph.name(id));
  std::vector<bool> kept(graph.values.size());
  for (const ValueId id : graph.outputs) kept[id] = true;
  return Compiler(graph, inference, schedule, plan_memory(context, schedule, kept)).run();
}

}  // namespace weft::onnx
