#include "engine/onnx/gpu/place_parts.h"

#include <algorithm>
#include <set>

#include "engine/onnx/gpu/region.h"

namespace weft::onnx {
namespace {

// The alignment, in bytes, that WebGPU requires for the offset of a part of a buffer.
constexpr std::uint64_t bytes_aligned = 256;

// The values that one kernel reads and writes.
struct Touch {
  std::vector<ValueId> reads;
  std::vector<ValueId> writes;
};

class Placer {
 public:
  Placer(const KernelContext& context, const std::vector<bool>& full, bool apart,
         Schedule& schedule)
      : context_(context), full_(full), apart_(apart), schedule_(schedule) {
    for (const Step& step : schedule.steps) {
      if (step.kind != Step::Kind::kernels) continue;
      // The step makes one copy for each input that is not placed.
      if (joins(step) || joins_apart(step)) {
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
      if (joins(step) || joins_apart(step)) written_.insert(step.node->outputs[0]);
  }

  void run() {
    for (Step& step : schedule_.steps) {
      if (!joins(step) && !joins_apart(step)) continue;
      const Node& node = *step.node;
      std::vector<bool> placed;
      std::uint64_t elements = 0;
      const auto images = static_cast<std::uint64_t>(joined_blocks(context_, node));
      for (const ValueId id : node.inputs) {
        placed.push_back(std::ranges::count(node.inputs, id) == 1 &&
                         (images == 1 ? place(id, node.outputs[0], elements)
                                      : place_apart(id, node.outputs[0], elements, images)));
        elements += static_cast<std::uint64_t>(context_.tensor(id).count()) / images;
      }
      if (std::ranges::contains(placed, true)) step.kernels = concat_copies(context_, node, placed);
    }
  }

 private:
  bool joins(const Step& step) const {
    return step.kind == Step::Kind::kernels && step.fused.empty() && !step.kernels.empty() &&
           joins_end_to_end(context_, *step.node);
  }
  // True for a concatenation that joins its inputs image by image.
  bool joins_apart(const Step& step) const {
    return apart_ && step.kind == Step::Kind::kernels && step.fused.empty() &&
           !step.kernels.empty() && step.node->op == "Concat" &&
           !joins_end_to_end(context_, *step.node);
  }
  // True if a node other than the concatenation reads `part`. Such a part is not placed, because
  // only the concatenation knows that its images are not contiguous.
  bool is_read_elsewhere(ValueId part, ValueId whole) const {
    const auto is_part = [&](ValueId id) {
      return id != no_value && schedule_.alias_of[id] == schedule_.alias_of[part];
    };
    return std::ranges::any_of(context_.graph.outputs, is_part) ||
           std::ranges::any_of(touches_,
                               [&](const Touch& touch) {
                                 return std::ranges::any_of(touch.reads, is_part) &&
                                        touch.writes != std::vector{whole};
                               }) ||
           std::ranges::any_of(schedule_.steps, [&](const Step& step) {
             return step.kind == Step::Kind::processor &&
                    std::ranges::any_of(step.node->inputs, is_part);
           });
  }
  bool place_apart(ValueId part, ValueId whole, std::uint64_t elements, std::uint64_t images) {
    // Kernels store one number or four at a time, so that blocks must be multiples of four.
    constexpr std::uint64_t together = 4;
    const auto block = static_cast<std::uint64_t>(context_.tensor(part).count()) / images;
    const auto pitch = static_cast<std::uint64_t>(context_.tensor(whole).count()) / images;
    if (block % together != 0 || pitch % together != 0 || elements % together != 0 ||
        schedule_.alias_of[whole] != whole || schedule_.alias_of[part] != part ||
        is_read_elsewhere(part, whole))
      return false;
    for (ValueId id = 0; id < schedule_.alias_of.size(); ++id)
      if (id != part && schedule_.alias_of[id] == part) return false;
    if (!place(part, whole, elements, true)) return false;
    schedule_.apart[part] = {.block = block, .pitch = pitch};
    return true;
  }
  bool place(ValueId part, ValueId whole, std::uint64_t elements, bool joined_apart = false) {
    const ValueId moved = schedule_.alias_of[part], target = schedule_.alias_of[whole];
    const std::uint64_t offset = schedule_.offset_of[whole] + elements;
    // A part can move only if it has memory of its own that kernels write and that holds no other
    // value.
    if (moved == target || !written_.contains(moved) || schedule_.offset_of[part] != 0 ||
        schedule_.bounded.contains(moved) || full_[moved] != full_[target] ||
        (!joined_apart && offset * (full_[target] ? 4 : 2) % bytes_aligned != 0) ||
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
  const std::vector<bool>& full_;
  const bool apart_;
  Schedule& schedule_;
  std::vector<Touch> touches_;
  std::set<ValueId> written_;  // The values that kernels write.
};

}  // namespace

void place_parts(const KernelContext& context, const std::vector<bool>& full, bool apart,
                 Schedule& schedule) {
  Placer(context, full, apart, schedule).run();
}

}  // namespace weft::onnx
