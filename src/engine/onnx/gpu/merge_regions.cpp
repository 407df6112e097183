#include "engine/onnx/gpu/merge_regions.h"

#include <algorithm>
#include <map>
#include <set>

#include "engine/onnx/gpu/region.h"

namespace weft::onnx {
namespace {

constexpr std::size_t members_max = 64;

using Members = std::vector<const Node*>;

class Merger {
 public:
  Merger(const KernelContext& context, const ScheduleOptions& options, std::vector<Step>& steps)
      : context_(context), options_(options), steps_(steps), is_merged_(steps.size()) {
    for (const Node& node : context.graph.nodes)
      for (const ValueId id : node.inputs)
        if (id != no_value) readers_[id].insert(&node);
    for (std::size_t s = 0; s < steps.size(); ++s)
      for (const Node* node : nodes_of(steps[s]))
        for (const ValueId id : node->outputs)
          if (id != no_value) producer_[id] = s;
  }

  void run() {
    for (std::size_t s = steps_.size(); s-- > 0;)
      if (!is_merged_[s] && steps_[s].kind == Step::Kind::kernels && can_merge(steps_[s])) grow(s);
    std::size_t kept = 0;
    for (std::size_t s = 0; s < steps_.size(); ++s)
      if (!is_merged_[s]) {
        if (kept != s) steps_[kept] = std::move(steps_[s]);
        ++kept;
      }
    steps_.resize(kept);
  }

 private:
  static Members nodes_of(const Step& step) {
    Members out = {step.node};
    out.insert(out.end(), step.fused.begin(), step.fused.end());
    return out;
  }
  bool before_barrier(const Node* node) const {
    return static_cast<std::size_t>(node - context_.graph.nodes.data()) < options_.barrier;
  }
  // A concatenation that joins its inputs end to end is not merged, because writing the inputs
  // directly into the result is faster.
  bool can_merge(const Step& step) const {
    return (step.kind == Step::Kind::kernels || step.kind == Step::Kind::alias) &&
           std::ranges::all_of(nodes_of(step), [&](const Node* node) {
             return context_.inference.values[node->outputs[0]].has_value() &&
                    fits_region(context_, *node) && !joins_end_to_end(context_, *node) &&
                    context_.tensor(node->outputs[0]).count() > 0;
           });
  }
  static Members joined(const Members& a, const Members& b) {
    Members out = a;
    out.insert(out.end(), b.begin(), b.end());
    std::ranges::sort(out);  // Sorts by address, which is the graph's order.
    return out;
  }
  // True if only nodes of the step and of `members` read the step's outputs, and no element of them
  // is computed twice (moves of elements may be).
  bool serves_only(const Step& step, const Members& members, ValueId root) const {
    const Members own = nodes_of(step);
    const Members all = joined(members, own);
    for (const Node* node : own) {
      if (std::ranges::contains(context_.graph.outputs, node->outputs[0]) ||
          before_barrier(node) != before_barrier(members.back()))
        return false;
      const auto readers = readers_.find(node->outputs[0]);
      if (readers != readers_.end() && !std::ranges::all_of(readers->second, [&](const Node* n) {
            return std::ranges::contains(all, n);
          }))
        return false;
    }
    return std::ranges::all_of(own, [](const Node* node) { return only_moves(*node); }) ||
           computed_once(context_, all, root, own.back()->outputs[0]);
  }
  // Returns the last step that the region could take in.
  std::optional<std::size_t> next_step(const Members& members, ValueId root,
                                       const std::set<std::size_t>& refused) const {
    std::set<std::size_t> near;
    for (const Node* node : members)
      for (const ValueId id : node->inputs)
        if (const auto found = producer_.find(id); id != no_value && found != producer_.end())
          near.insert(found->second);
    for (auto s = near.rbegin(); s != near.rend(); ++s) {
      const Step& step = steps_[*s];
      if (!refused.contains(*s) && !is_merged_[*s] && !std::ranges::contains(members, step.node) &&
          can_merge(step) && serves_only(step, members, root))
        return *s;
    }
    return std::nullopt;
  }

  void grow(std::size_t last) {
    Members members = nodes_of(steps_[last]);
    const ValueId root = members.back()->outputs[0];
    std::set<std::size_t> taken, refused;
    std::optional<Kernel> kernel;
    bool saves = false;  // False if the region takes in only reshapes, which are free.
    while (const auto s = next_step(members, root, refused)) {
      const Members more = joined(members, nodes_of(steps_[*s]));
      auto made = more.size() <= members_max ? region_kernel(context_, more) : std::nullopt;
      if (!made || made->inputs.size() + made->outputs.size() > options_.bindings_max) {
        refused.insert(*s);
        continue;
      }
      kernel = std::move(made);
      members = more;
      taken.insert(*s);
      saves = saves || steps_[*s].kind == Step::Kind::kernels;
    }
    if (!saves) return;
    for (const std::size_t s : taken) is_merged_[s] = true;
    Step& step = steps_[last];
    step.node = members.front();
    step.fused.assign(members.begin() + 1, members.end());
    step.kernels.clear();
    step.kernels.push_back(std::move(*kernel));
  }

  const KernelContext& context_;
  const ScheduleOptions& options_;
  std::vector<Step>& steps_;
  std::vector<bool> is_merged_;
  std::map<ValueId, std::set<const Node*>> readers_;
  std::map<ValueId, std::size_t> producer_;  // For each value, the step that computes it.
};

}  // namespace

void merge_regions(const KernelContext& context, const ScheduleOptions& options,
                   std::vector<Step>& steps) {
  Merger(context, options, steps).run();
}

}  // namespace weft::onnx
