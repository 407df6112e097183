#include "engine/onnx/gpu/schedule.h"

#include <algorithm>

#include "engine/onnx/gpu/half_values.h"
#include "engine/onnx/gpu/merge_regions.h"
#include "engine/onnx/gpu/place_parts.h"
#include "engine/onnx/gpu/settings.h"
#include "engine/onnx/gpu/side_by_side.h"
#include "engine/onnx/gpu/stored_kernel.h"

namespace weft::onnx {
namespace {

constexpr std::size_t chain_max = 12;

bool only_reshapes(const Node& node) {
  return node.op == "Reshape" || node.op == "Flatten" || node.op == "Squeeze" ||
         node.op == "Unsqueeze" || node.op == "Identity";
}

class Scheduler {
 public:
  Scheduler(const KernelContext& context, const ScheduleOptions& options)
      : context_(context),
        options_(options),
        readers_(context.graph.values.size()),
        is_output_(context.graph.values.size()),
        taken_(context.graph.nodes.size()) {
    for (std::size_t n = 0; n < context.graph.nodes.size(); ++n)
      for (const ValueId id : context.graph.nodes[n].inputs)
        if (id != no_value && !std::ranges::contains(readers_[id], n)) readers_[id].push_back(n);
    for (const ValueId id : context.graph.outputs) is_output_[id] = true;
    ranges_ = integer_ranges(context.graph, context.inference, options.input_ranges);
  }

  Schedule run() {
    Schedule out;
    for (ValueId id = 0; id < context_.graph.values.size(); ++id) out.alias_of.push_back(id);
    out.offset_of.assign(context_.graph.values.size(), 0);
    out.apart.resize(context_.graph.values.size());
    std::vector<std::pair<std::size_t, Step>> placed;
    for (std::size_t n = 0; n < context_.graph.nodes.size(); ++n) {
      const Node& node = context_.graph.nodes[n];
      if (taken_[n] || is_known(node)) continue;
      Step step;
      step.node = &node;
      std::size_t position = n;
      if (add_bounded(node, out, step)) {
        // add_bounded() has made the kernels.
      } else if (fits_gpu(node)) {
        if (is_empty(node)) {
          step.kind = Step::Kind::kernels;  // The node has no elements: its step has no kernels.
        } else if (only_reshapes(node)) {
          step.kind = Step::Kind::alias;
          out.alias_of[node.outputs[0]] = out.alias_of[node.inputs[0]];
        } else if (auto made = kernels_of(n, step.fused, position)) {
          step.kind = Step::Kind::kernels;
          step.kernels = std::move(*made);
        }
      }
      (step.kind == Step::Kind::processor ? out.nodes_on_processor : out.nodes_on_gpu) +=
          1 + step.fused.size();
      placed.emplace_back(position, std::move(step));
    }
    std::ranges::stable_sort(placed, {}, &std::pair<std::size_t, Step>::first);
    for (auto& [position, step] : placed) out.steps.push_back(std::move(step));
    if (options_.fuse) merge_regions(context_, options_, out.steps);
    std::vector<bool> full(context_.graph.values.size(), true);
    if (options_.halves) full = full_values(context_, out, options_.barrier);
    if (options_.fuse && options_.place_parts)
      place_parts(context_, full, options_.place_apart, out);
    out.half.assign(full.size(), false);
    if (options_.fuse && options_.join) run_side_by_side(options_, context_, out);
    store(out, full);
    return out;
  }

 private:
  const Tensor* tensor(ValueId id) const {
    return context_.inference.values[id] ? &*context_.inference.values[id] : nullptr;
  }
  bool is_known(const Node& node) const {
    return std::ranges::all_of(node.outputs, [&](ValueId id) {
      return id == no_value || (tensor(id) != nullptr && tensor(id)->has_bytes());
    });
  }

  void store(Schedule& schedule, const std::vector<bool>& full) const {
    if (options_.halves) schedule.half = half_values(context_, full);
    StoredKernels kernels(schedule.half, schedule.apart, schedule.offset_of);
    for (Step& step : schedule.steps)
      for (Kernel& kernel : step.kernels) kernels.change(kernel);
  }

  // True if kernels can work with the shapes, ranges and sizes of a node.
  bool fits_gpu(const Node& node) const { return inputs_fit(node) && outputs_fit(node); }
  bool fits(ValueId id) const {
    if (id == no_value) return true;
    const Tensor* value = tensor(id);
    return value != nullptr &&
           (value->type() != ElementType::i64 || (ranges_[id] && ranges_[id]->fits_i32())) &&
           static_cast<std::uint64_t>(value->count()) * 4 <= options_.binding_bytes_max;
  }
  bool inputs_fit(const Node& node) const {
    for (std::size_t i = 0; i < node.inputs.size(); ++i)
      if (!fits(node.inputs[i]) && !(is_setting(node, i) && tensor(node.inputs[i]) != nullptr))
        return false;
    return true;
  }
  bool outputs_fit(const Node& node) const {
    return std::ranges::all_of(node.outputs, [&](ValueId id) { return fits(id); });
  }
  bool is_empty(const Node& node) const {
    return std::ranges::all_of(
        node.outputs, [&](ValueId id) { return id == no_value || tensor(id)->count() == 0; });
  }

  // Adds the step of a node whose result has a bound instead of a shape. Returns false for other
  // nodes.
  bool add_bounded(const Node& node, Schedule& out, Step& step) const {
    if (!inputs_fit(node)) return false;
    auto bound = bounded_output(context_, node);
    if (!bound || bound->words * 4 > options_.binding_bytes_max) return false;
    auto made = selection_kernels(context_, node);
    if (!made) return false;
    out.bounded.emplace(node.outputs[0], std::move(*bound));
    step.kind = Step::Kind::kernels;
    step.kernels = std::move(*made);
    return true;
  }

  // Returns the chains of nodes that can be fused with node `n`: other nodes read only the result
  // of the last node of a chain. Chains of all lengths are returned, the shortest first.
  std::vector<std::vector<std::size_t>> chains_after(std::size_t n) const {
    std::vector<std::vector<std::size_t>> out;
    const Node& first = context_.graph.nodes[n];
    if (!options_.fuse || first.outputs.size() != 1) return out;
    const Shape& shape = tensor(first.outputs[0])->shape();
    std::vector<ValueId> values = {first.outputs[0]};
    std::vector<std::size_t> members = {n};
    while (members.size() <= chain_max) {
      std::size_t next = ~std::size_t{0};
      for (const ValueId id : values)
        for (const std::size_t reader : readers_[id])
          if (!std::ranges::contains(members, reader)) next = std::min(next, reader);
      if (next == ~std::size_t{0} || taken_[next] ||
          (n < options_.barrier && next >= options_.barrier))
        break;
      const Node& node = context_.graph.nodes[next];
      if (!fits_gpu(node) || is_known(node) || !is_elementwise(context_, node) ||
          tensor(node.outputs[0])->shape() != shape)
        break;
      members.push_back(next);
      values.push_back(node.outputs[0]);
      const bool closed = std::ranges::all_of(values.begin(), values.end() - 1, [&](ValueId id) {
        return !is_output_[id] && std::ranges::all_of(readers_[id], [&](std::size_t reader) {
          return std::ranges::contains(members, reader);
        });
      });
      if (closed) out.emplace_back(members.begin() + 1, members.end());
    }
    return out;
  }

  MaybeKernels kernels_of(std::size_t n, std::vector<const Node*>& fused, std::size_t& position) {
    const Node& node = context_.graph.nodes[n];
    auto chains = chains_after(n);
    chains.insert(chains.begin(), std::vector<std::size_t>());
    for (std::size_t c = chains.size(); c-- > 0;) {
      Epilogue epilogue;
      for (const std::size_t member : chains[c])
        epilogue.nodes.push_back(&context_.graph.nodes[member]);
      auto kernels = make_kernels(context_, node, epilogue);
      if (!kernels || std::ranges::any_of(*kernels, [&](const Kernel& kernel) {
            return kernel.inputs.size() + kernel.outputs.size() > options_.bindings_max;
          }))
        continue;
      for (const std::size_t member : chains[c]) {
        taken_[member] = true;
        position = member;
      }
      fused = std::move(epilogue.nodes);
      return kernels;
    }
    return std::nullopt;
  }

  const KernelContext& context_;
  const ScheduleOptions& options_;
  std::vector<std::vector<std::size_t>> readers_;  // For each value, the nodes that read it.
  std::vector<bool> is_output_;
  std::vector<std::optional<IntegerRange>> ranges_;  // The ranges of integers, by ValueId.
  std::vector<bool> taken_;                          // Nodes that are fused with an earlier one.
};

}  // namespace

Schedule make_schedule(const KernelContext& context, const ScheduleOptions& options) {
  return Scheduler(context, options).run();
}

std::uint64_t bytes_of(const KernelContext& context, const Schedule& schedule, ValueId id) {
  const auto bound = schedule.bounded.find(id);
  if (bound != schedule.bounded.end()) return bound->second.words * 4;
  const auto count = static_cast<std::uint64_t>(context.tensor(id).count());
  return schedule.half[id] ? (count + 1) / 2 * 4 : count * 4;
}

MemoryPlan plan_memory(const KernelContext& context, const Schedule& schedule,
                       const std::vector<bool>& kept) {
  const std::size_t count = context.graph.values.size();
  constexpr std::size_t never = ~std::size_t{0};
  const std::size_t end = schedule.steps.size();
  std::vector<std::size_t> first(count, never), last(count, 0);
  std::vector<bool> on_gpu(count);
  const auto is_known = [&](ValueId id) {
    const auto& value = context.inference.values[id];
    return value ? value->has_bytes() : !schedule.bounded.contains(id);
  };
  const auto use = [&](ValueId id, std::size_t step) {
    id = schedule.alias_of[id];
    first[id] = std::min(first[id], step);
    last[id] = std::max(last[id], step);
  };
  for (std::size_t s = 0; s < end; ++s) {
    const Step& step = schedule.steps[s];
    if (step.kind == Step::Kind::kernels) {
      for (const Kernel& kernel : step.kernels) {
        for (const KernelInput& input : kernel.inputs) {
          if (input.value == no_value || is_known(input.value)) continue;
          on_gpu[schedule.alias_of[input.value]] = true;
          use(input.value, s);
        }
        for (const ValueId id : kernel.outputs) {
          on_gpu[schedule.alias_of[id]] = true;
          use(id, s);
        }
      }
      // A value without elements is marked as on the GPU here, because no kernel has it as an
      // output.
      for (const ValueId id : step.node->outputs) {
        const auto& value = context.inference.values[id == no_value ? 0 : id];
        if (id == no_value || !value || value->count() != 0) continue;
        on_gpu[id] = true;
        use(id, s);
      }
    } else {
      for (const ValueId id : step.node->inputs)
        if (id != no_value && !is_known(id)) use(id, s);
      for (const ValueId id : step.node->outputs)
        if (id != no_value && !is_known(id)) use(id, s);
    }
  }
  // Inputs need their memory from the start; kept values need it to the end.
  for (const ValueId id : context.graph.input_ids) first[schedule.alias_of[id]] = 0;
  for (std::size_t id = 0; id < count; ++id)
    if (kept[id]) last[schedule.alias_of[id]] = end;

  MemoryPlan plan;
  plan.slot_of.assign(count, MemoryPlan::none);
  std::vector<std::size_t> free_at;  // The step after which each slot is free.
  for (std::size_t s = 0; s <= end; ++s)
    for (ValueId id = 0; id < count; ++id) {
      if (!on_gpu[id] || first[id] != s || schedule.alias_of[id] != id) continue;
      const std::uint64_t bytes =
          std::max<std::uint64_t>(16, (bytes_of(context, schedule, id) + 15) / 16 * 16);
      plan.unshared_bytes += bytes;
      // Chooses the free slot that wastes or grows the least.
      std::uint32_t best = MemoryPlan::none;
      std::uint64_t least = 0;
      for (std::uint32_t slot = 0; slot < plan.slot_bytes.size(); ++slot) {
        if (free_at[slot] >= s) continue;
        const std::uint64_t have = plan.slot_bytes[slot];
        const std::uint64_t cost = have > bytes ? have - bytes : bytes - have;
        if (best == MemoryPlan::none || cost < least) {
          best = slot;
          least = cost;
        }
      }
      if (best == MemoryPlan::none) {
        best = static_cast<std::uint32_t>(plan.slot_bytes.size());
        plan.slot_bytes.push_back(0);
        free_at.push_back(0);
      }
      plan.slot_bytes[best] = std::max(plan.slot_bytes[best], bytes);
      free_at[best] = last[id];
      plan.slot_of[id] = best;
    }
  for (ValueId id = 0; id < count; ++id) plan.slot_of[id] = plan.slot_of[schedule.alias_of[id]];
  return plan;
}

}  // namespace weft::onnx
