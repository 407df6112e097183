#include "apps/coordinator/ingest/range_check.h"

#include <utility>

#include "apps/coordinator/ingest/run_plan.h"
#include "apps/coordinator/ingest/verifier_runs.h"

namespace weft::coordinator {

Result<jobs::Checked> RangeCheck::check(const jobs::VerifyOrder& order, VerifiedJobs::Known& job) {
  std::vector<manifest::Range> ranges = order.ranges;
  // True if every rival result differs from the order's result; `ranges` then has one range for
  // each rival, in the order of the rivals.
  bool each_differs = false;
  if (!order.rivals.empty()) {
    WEFT_ASSIGN(auto apart, bytes_.differing(order));
    each_differs = apart.size() == order.rivals.size();
    if (!apart.empty()) ranges = std::move(apart);
  }
  // A dispute runs each range by itself, so that each range refutes one rival.
  std::vector<manifest::Range> runs =
      order.rivals.empty()
          ? runs_of(ranges, job.costs.gap_max(), DeviceRuns::workgroups_in_time(job, first_device))
          : ranges;
  RunPlan plan(order, std::move(ranges), std::move(runs));
  jobs::Checked checked{.outcome = trust::AuditOutcome::agrees};
  while (const auto range = plan.next()) {
    const std::uint32_t in_time = DeviceRuns::workgroups_in_time(job, first_device);
    if (in_time > 0 && range->count > in_time && plan.split(*range, in_time)) continue;
    auto ran = runs_.run(job, *range, first_device);
    if (!ran) {
      const bool late = ran.error().code == ErrorCode::deadline_exceeded;
      if (plan.split(*range, late ? range->count / 2 : 0)) continue;
      return std::unexpected(ran.error());
    }
    checked.vendor = runs_.vendor();
    WEFT_ASSIGN(const bool agrees, bytes_.same(order, order.outputs, *range, ran->outputs));
    // A range in which the result agrees needs no second opinion, unless the result has rivals: the
    // range then refutes a rival.
    if (agrees && order.rivals.empty()) continue;
    Found found{.part = *range, .computed = std::move(ran->outputs)};
    if (!agrees) {
      WEFT_ASSIGN(found, narrowed(order, job, plan.ranges(), *range, std::move(found.computed)));
      if (found.changes) return unsteady(std::string(changes_by_run));
    }
    SecondLook::Opinion opinion = look_.at(order, job, found.part, found.computed);
    if (opinion.unsteady) return unsteady(std::move(opinion.reason));
    if (opinion.late)
      return std::unexpected(Error{ErrorCode::deadline_exceeded, std::move(opinion.reason)});
    if (agrees) {
      checked.apart.push_back(*range);
      // checked.devices is the weakest opinion of all ranges so far.
      if (checked.apart.size() == 1 || opinion.devices == trust::Devices::divided ||
          checked.devices == trust::Devices::two)
        checked.devices = opinion.devices;
      continue;
    }
    checked.devices = opinion.devices;
    checked.outcome = trust::AuditOutcome::differs;
    checked.wrong = found.part;
    checked.apart.clear();
    return checked;
  }
  if (!each_differs) checked.apart.clear();
  return checked;
}

// Runs the first wrong part alone, to see whether it is still wrong.
Result<RangeCheck::Found> RangeCheck::narrowed(const jobs::VerifyOrder& order,
                                               VerifiedJobs::Known& job,
                                               const std::vector<manifest::Range>& ranges,
                                               manifest::Range run,
                                               std::vector<ByteVector> computed) {
  const manifest::Range part = bytes_.first_wrong(order, ranges, run, computed);
  if (part == run) return Found{.part = run, .computed = std::move(computed)};
  WEFT_ASSIGN(auto ran, runs_.run(job, part, first_device));
  WEFT_ASSIGN(const bool alone, bytes_.same(order, order.outputs, part, ran.outputs));
  return Found{.part = part, .computed = std::move(ran.outputs), .changes = alone};
}

}  // namespace weft::coordinator
