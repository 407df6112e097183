#include "decisions/jobs/check_rows.h"

#include <algorithm>
#include <chrono>

#include "decisions/jobs/core_tables.h"
#include "decisions/jobs/verdict_text.h"

namespace weft::jobs {

store::Check::Outcome outcome_of(trust::AuditOutcome outcome) {
  switch (outcome) {
    case trust::AuditOutcome::agrees:
      return store::Check::Outcome::agrees;
    case trust::AuditOutcome::differs:
      return store::Check::Outcome::differs;
    default:
      return store::Check::Outcome::failed;
  }
}

std::vector<store::Check::Range> ranges_of(std::span<const manifest::Range> ranges) {
  std::vector<store::Check::Range> rows;
  for (const auto& range : ranges) rows.push_back({.first = range.first, .count = range.count});
  return rows;
}

std::optional<store::Check::Range> range_of(const std::optional<manifest::Range>& range) {
  if (!range) return {};
  return store::Check::Range{.first = range->first, .count = range->count};
}

store::Basis basis_of(const CoreTables& tables, RunningJob& job, const trust::Accepted& accepted,
                      UnixMillis now) {
  using store::Basis;
  const bool verified = job.verified.erase(accepted.task.index) > 0;
  if (checked_by_mathematics(*job.manifest)) return Basis::mathematics;
  if (job.manifest->verify.anyone || !tables.settings.referee.defences.newcomers_decide_nothing)
    return Basis::agreement;
  auto best = trust::Level::newcomer;
  const auto count = [&](const PublicKey& worker) {
    best = std::max(best, tables.trust.level(worker, now));
  };
  for (const PublicKey& worker : accepted.agreeing) count(worker);
  if (const auto found = job.auditors.find(accepted.task.index); found != job.auditors.end()) {
    for (const auto& auditor : found->second) {
      if (!auditor.accuser) count(auditor.worker);
    }
  }
  if (best == trust::Level::root) return Basis::root;
  if (best == trust::Level::invited) return Basis::invited;
  if (verified) return Basis::verifier;
  return best == trust::Level::established ? Basis::established : Basis::unknown;
}

void CheckSweep::sweep(CoreTables& tables, UnixMillis now) {
  constexpr UnixMillis every = 60'000;
  constexpr UnixMillis kept = std::chrono::milliseconds(std::chrono::days(30)).count();
  if (tables.outbox.batch().empty() || now < swept_ + every)
    return;  // The sweep causes no batch of its own.
  swept_ = now;
  tables.trust.convictions().forget_old_mismatches(now);
  tables.outbox.batch().checks_kept_since.push_back(now - kept);
}

}  // namespace weft::jobs
