#include "apps/coordinator/ingest/run_plan.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "apps/coordinator/ingest/verifier_runs.h"
#include "common/manifest/split.h"

namespace weft::coordinator {
namespace {

// The fewest workgroups of a run that was cut: those of one part of the task, as tasks are cut into
// parts for checks.
std::uint32_t least_workgroups(const jobs::VerifyOrder& order) {
  const std::uint32_t whole = manifest::task_range(*order.manifest, order.task.index).count;
  if (!manifest::can_cut(*order.manifest)) return whole;
  const std::uint32_t parts = std::max(order.parts, std::uint32_t{1});
  return std::max(whole / parts + (whole % parts == 0 ? 0 : 1), std::uint32_t{1});
}

}  // namespace

RunPlan::RunPlan(const jobs::VerifyOrder& order, std::vector<manifest::Range> ranges,
                 std::vector<manifest::Range> runs)
    : order_(order), ranges_(std::move(ranges)), runs_(std::move(runs)) {}

std::optional<manifest::Range> RunPlan::next() {
  return at_ < runs_.size() ? std::optional(runs_[at_++]) : std::nullopt;
}

bool RunPlan::split(manifest::Range run, std::uint32_t most) {
  const auto is_part = [&](const manifest::Range& part) {
    return part != run && is_inside(part, run);
  };
  if (std::ranges::any_of(ranges_, is_part)) {
    std::ranges::copy_if(ranges_, std::back_inserter(runs_), is_part);
    return true;
  }
  const std::uint32_t count_max = std::max(most, least_workgroups(order_));
  if (most == 0 || run.count <= count_max) return false;
  std::ranges::copy(manifest::pieces(*order_.manifest, run, count_max), std::back_inserter(runs_));
  return true;
}

}  // namespace weft::coordinator
