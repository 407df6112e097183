#include "engine/onnx/gpu/side_by_side.h"

#include <algorithm>

#include "engine/onnx/gpu/join_kernels.h"

namespace weft::onnx {
namespace {

constexpr std::size_t steps_ahead_max = 24;
constexpr std::size_t together_max = 4;

// A range of elements of a value's memory.
struct Range {
  ValueId memory = no_value;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t pitch = 0;  // If this is not 0, the range repeats for each image.
  [[nodiscard]] bool overlaps(const Range& other) const {
    return memory == other.memory &&
           (pitch != other.pitch || (begin < other.end && other.begin < end));
  }
};
struct Touched {
  std::vector<Range> read;
  std::vector<Range> written;
};

bool overlap(const std::vector<Range>& a, const std::vector<Range>& b) {
  return std::ranges::any_of(a, [&](const Range& one) {
    return std::ranges::any_of(b, [&](const Range& other) { return one.overlaps(other); });
  });
}
bool share_memory(const std::vector<Range>& a, const std::vector<Range>& b) {
  return std::ranges::any_of(a, [&](const Range& one) {
    return std::ranges::any_of(b, [&](const Range& other) { return one.memory == other.memory; });
  });
}

class SideBySide {
 public:
  SideBySide(const ScheduleOptions& options, const KernelContext& context, Schedule& schedule)
      : options_(options), context_(context), schedule_(schedule) {
    for (const Step& step : schedule.steps) touched_.push_back(touched_by(step));
  }

  void run() {
    std::vector<Step>& steps = schedule_.steps;
    for (std::size_t s = 0; s < steps.size(); ++s) {
      if (!can_join(steps[s])) continue;
      std::size_t together = 1;
      for (std::size_t next = s + 1; next < steps.size() && next <= s + steps_ahead_max &&
                                     together < together_max &&
                                     steps[next].kind != Step::Kind::processor;) {
        if (can_join(steps[next]) && can_move(next, s) && join(s, next))
          ++together;
        else
          ++next;
      }
    }
  }

 private:
  static bool can_join(const Step& step) {
    return step.kind == Step::Kind::kernels && step.kernels.size() == 1 &&
           step.kernels[0].parts != nullptr;
  }
  Range range_of(ValueId id) const {
    const std::uint64_t begin = schedule_.offset_of[id];
    if (const Apart& apart = schedule_.apart[id]; apart.block > 0)
      return {.memory = schedule_.alias_of[id],
              .begin = begin,
              .end = begin + apart.block,
              .pitch = apart.pitch};
    return {.memory = schedule_.alias_of[id],
            .begin = begin,
            .end = begin + bytes_of(context_, schedule_, id) / 4};
  }
  Touched touched_by(const Step& step) const {
    Touched out;
    for (const Kernel& kernel : step.kernels) {
      for (const KernelInput& input : kernel.inputs)
        if (input.value != no_value) out.read.push_back(range_of(input.value));
      for (const ValueId id : kernel.outputs) out.written.push_back(range_of(id));
    }
    return out;
  }
  bool can_move(std::size_t from, std::size_t to) const {
    const Touched& moved = touched_[from];
    for (std::size_t s = to; s < from; ++s) {
      const Touched& other = touched_[s];
      if (overlap(other.written, moved.read) || overlap(other.read, moved.written) ||
          overlap(other.written, moved.written))
        return false;
    }
    // Two kernels of one dispatch must not write to the same buffer, and neither of them may read a
    // buffer that the other one writes to.
    const Touched& first = touched_[to];
    return !share_memory(first.written, moved.read) && !share_memory(first.read, moved.written) &&
           !share_memory(first.written, moved.written);
  }
  bool join(std::size_t first, std::size_t second) {
    std::vector<Step>& steps = schedule_.steps;
    // A joined step is joined again from its original kernels, so that the text has one branch for
    // each.
    std::vector<Kernel>& parts = joined_[steps[first].node];
    if (parts.empty()) parts.push_back(steps[first].kernels[0]);
    std::vector<const Kernel*> all;
    for (const Kernel& part : parts) all.push_back(&part);
    all.push_back(&steps[second].kernels[0]);
    auto kernel = join_kernels(all);
    if (!kernel || kernel->inputs.size() + kernel->outputs.size() > options_.bindings_max)
      return false;
    parts.push_back(std::move(steps[second].kernels[0]));
    steps[first].kernels[0] = std::move(*kernel);
    steps[first].fused.push_back(steps[second].node);
    steps[first].fused.insert(steps[first].fused.end(), steps[second].fused.begin(),
                              steps[second].fused.end());
    steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(second));
    touched_[first] = touched_by(steps[first]);
    touched_.erase(touched_.begin() + static_cast<std::ptrdiff_t>(second));
    return true;
  }

  const ScheduleOptions& options_;
  const KernelContext& context_;
  Schedule& schedule_;
  std::vector<Touched> touched_;  // The memory that each step reads and writes.
  std::map<const Node*, std::vector<Kernel>> joined_;
};

}  // namespace

void run_side_by_side(const ScheduleOptions& options, const KernelContext& context,
                      Schedule& schedule) {
  SideBySide(options, context, schedule).run();
}

}  // namespace weft::onnx
