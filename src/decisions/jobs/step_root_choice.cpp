#include "decisions/jobs/step_root_choice.h"

#include <algorithm>

#include "common/manifest/split.h"
#include "decisions/jobs/state_room.h"

namespace weft::jobs {
namespace {

// The first version of the protocol with roots of steps.
constexpr std::uint32_t version_min = 8;

}  // namespace

bool StepRootChoice::asks(const RunningJob& job, const ConnectedWorker& worker, std::uint32_t index,
                          Moment now) const {
  return is_checked_by_groups(job, worker, now) && is_worth_it(job, worker, index);
}

bool StepRootChoice::is_checked_by_groups(const RunningJob& job, const ConnectedWorker& worker,
                                          Moment now) const {
  const trust::Standing& standing = tables_.trust.standing();
  const PublicKey& key = worker.hello.key;
  // Only the coordinator's own verifier computes groups. The word of the operator's workers is not
  // checked, and results of workers with mistakes are checked whole.
  return tables_.world.verifies() && !standing.trusts_heads() &&
         std::ranges::contains(worker.hello.versions, version_min) &&
         checked_groups(*job.manifest).all > 1 &&
         tables_.trust.level(key, now.unix) < trust::Level::invited && !standing.has_mistakes(key);
}

bool StepRootChoice::is_worth_it(const RunningJob& job, const ConnectedWorker& worker,
                                 std::uint32_t index) const {
  const std::uint32_t workgroups = manifest::task_range(*job.manifest, index).count;
  const double reference = job.row.reference_seconds_per_workgroup * workgroups;
  if (canaries_.was_too_long(job.row.id)) return true;
  const double verifier = canaries_.verifier_rate();
  if (verifier > 0 && reference / verifier > check_seconds_max) return true;
  const double rate = worker.hello.capabilities.f32_gflop_per_s / 1000;
  if (reference <= 0 || rate <= 0) return false;
  const double group_seconds = reference / rate / checked_groups(*job.manifest).all;
  const double root_seconds =
      static_cast<double>(state_bytes(*job.manifest, index)) / hashed_per_second;
  return root_seconds < share_max * group_seconds;
}

}  // namespace weft::jobs
