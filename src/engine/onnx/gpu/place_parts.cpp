#include "engine/onnx/gpu/place_parts.h"

#include <algorithm>
#include <set>

#include "engine/onnx/gpu/region.h"

namespace weft::onnx {
namespace {

// What WebGPU asks of the offset of a part of a buffer, in words.
constexpr std::uint64_t words_aligned = 256 / 4;

// What one kernel touches.
struct Touch {
  std::vector<ValueId> reads;
  std::vector<ValueId> writes;
};

class Placer {
 public:
  Placer(const KernelContext& context, Schedule& schedule)
      : context_(context), schedule_(schedule) {
    for (const Step& step : schedule.steps) {
      if (step.kind != Step::Kind::kernels) continue;
      if (joins(step)) {  // A copy for each input, until it is placed.
        for (const ValueId id : step.node->inputs)
          touches_.push_back({.reads = {id}, .writes = {step.node->outputs[0]}});
        continue;
      }
      for (const Kernel& kernel : step.kernels) {
        Touch touch{.reads = {}, .writes = kernel.outputs};
        for (const KernelInput& input : kernel.inputs)
          if (input.value != no_value) touch.reads.push_back(input.value);
        touches_.push_back(std::move(touch));
        written_.insert(kernel.outputs.begin(), kernel.outputs.end());
      }
    }
    for (const Step& step : schedule.steps)
      if (joins(step)) written_.insert(step.node->outputs[0]);
  }

  void run() {
    for (Step& step : schedule_.steps) {
      if (!joins(step)) continue;
      const Node& node = *step.node;
      std::vector<bool> placed;
      std::uint64_t words = 0;
      for (const ValueId id : node.inputs) {
        placed.push_back(std::ranges::count(node.inputs, id) == 1 &&
                         place(id, node.outputs[0], words));
        words += static_cast<std::uint64_t>(context_.tensor(id).count());
      }
      if (std::ranges::contains(placed, true)) step.kernels = concat_copies(context_, node, placed);
    }
  }

 private:
  bool joins(const Step& step) const {
    return step.kind == Step::Kind::kernels && step.fused.empty() && !step.kernels.empty() &&
           joins_end_to_end(context_, *step.node);
  }
  bool place(ValueId part, ValueId whole, std::uint64_t words) {
    const ValueId moved = schedule_.alias_of[part], target = schedule_.alias_of[whole];
    const std::uint64_t offset = schedule_.offset_of[whole] + words;
    // Whole memory of its own that kernels write, and that nothing else lies in.
    if (moved == target || !written_.contains(moved) || schedule_.offset_of[part] != 0 ||
        schedule_.bounded.contains(moved) || offset % words_aligned != 0 ||
        context_.tensor(moved).count() != context_.tensor(part).count() ||
        context_.tensor(part).count() == 0)
      return false;
    const auto memory_of = [&](ValueId id) {
      const ValueId own = schedule_.alias_of[id];
      return own == moved ? target : own;
    };
    const auto is_copy = [&](const Touch& touch) {
      return touch.reads == std::vector{part} && touch.writes == std::vector{whole};
    };
    for (const Touch& touch : touches_) {
      if (is_copy(touch)) continue;
      std::set<ValueId> written;
      for (const ValueId id : touch.writes)
        if (!written.insert(memory_of(id)).second) return false;
      for (const ValueId id : touch.reads)
        if (written.contains(memory_of(id))) return false;
    }
    std::erase_if(touches_, is_copy);
    for (ValueId id = 0; id < schedule_.alias_of.size(); ++id)
      if (schedule_.alias_of[id] == moved) {
        schedule_.alias_of[id] = target;
        schedule_.offset_of[id] += offset;
      }
    return true;
  }

  const KernelContext& context_;
  Schedule& schedule_;
  std::vector<Touch> touches_;
  std::set<ValueId> written_;  // By kernels.
};

}  // namespace

void place_parts(const KernelContext& context, Schedule& schedule) {
  Placer(context, schedule).run();
}

}  // namespace weft::onnx
