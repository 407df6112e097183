#include "decisions/trust/task_stakes.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace weft::trust {
namespace {

// The id under which the stake for a mismatch is locked, next to the lock for the task itself.
TaskId mismatch_of(const TaskId& task) { return {.job = task.job, .index = ~task.index}; }

}  // namespace

CheckRates TaskStakes::rates(const PublicKey& worker, const JobTerms& terms, UnixMillis now,
                             std::uint32_t groups) const {
  CheckRates rates = rates_at(standing_.book().reputation(worker, now),
                              std::max(terms.parts, groups), terms.audit, settings_.checks);
  if (standing_.trusts_heads()) return rates;
  // A part of every result is audited, if a part is at most a 32nd of the work (1 /
  // audit_parts_max). Replicas are then drawn at the floor rate only.
  rates.audit =
      std::max(rates.audit, static_cast<double>(rates.parts) / settings_.checks.audit_parts_max);
  if (rates.audit >= 1) rates.replica = settings_.checks.replica_floor;
  return rates;
}

MicroCredits TaskStakes::at_risk(MicroCredits value, const CheckRates& rates) const {
  const MicroCredits least = stake_for(value, rates, settings_.checks.collusion);
  if (standing_.trusts_heads() || value <= 0) return least;
  // The probability of finding a single wrong part of `parts`. Audits by accomplices do not count.
  const double found = std::max(rates.audit / rates.parts, settings_.checks.replica_floor) *
                       (standing_.root_at_hand() ? 1 : 1 - settings_.checks.collusion);
  return std::max(least, static_cast<MicroCredits>(
                             std::ceil(settings_.risk * static_cast<double>(value) / found)));
}

bool TaskStakes::reaches(const PublicKey& worker, const JobTerms& terms, MicroCredits value,
                         MicroCredits stake, UnixMillis now, std::uint32_t groups) const {
  if (terms.replicas < 2 || value <= 0 || !standing_.book().established(worker, now)) return false;
  return at_risk(value, rates(worker, terms, now, groups)) <= stake - locked(worker);
}

void TaskStakes::lock_mismatch(const PublicKey& worker, const TaskId& task, MicroCredits penalty) {
  (void)locked_.lock(worker, mismatch_of(task), penalty,
                     std::numeric_limits<MicroCredits>::max() / 2);
}

void TaskStakes::unlock_mismatch(const PublicKey& worker, const TaskId& task) {
  (void)locked_.unlock(worker, mismatch_of(task));
}

void TaskStakes::keep_mismatch(const PublicKey& worker, const TaskId& task) {
  kept_[worker].push_back(task);
}

bool TaskStakes::keeps_mismatch(const PublicKey& worker, const TaskId& task) const {
  const auto kept = kept_.find(worker);
  return kept != kept_.end() && std::ranges::contains(kept->second, task);
}

void TaskStakes::free_mismatches(const PublicKey& worker) {
  const auto kept = kept_.extract(worker);
  if (kept.empty()) return;
  for (const TaskId& task : kept.mapped()) unlock_mismatch(worker, task);
}

MicroCredits TaskStakes::take_penalty(const PublicKey& worker, const TaskId& task,
                                      MicroCredits value, const JobTerms* terms, UnixMillis now) {
  if (const MicroCredits locked = unlock(worker, task); locked > 0) return locked;
  // The worker did not run the task alone (it was a juror or an auditor, or the task was a trap).
  // The penalty is the stake that would have been locked if it had run the task alone.
  const JobTerms any{
      .replicas = 2, .audit = 0, .parts = settings_.checks.audit_parts_max, .agree = {}};
  return stake_for(value, rates(worker, terms == nullptr ? any : *terms, now),
                   settings_.checks.collusion);
}

}  // namespace weft::trust
