#include "decisions/jobs/sample_watch.h"

#include <algorithm>
#include <chrono>

#include "common/base/log.h"
#include "common/manifest/step_groups.h"

namespace weft::jobs {

namespace {

// The share of the task that the verifier computes.
double verified_share(const CoreTables& tables, const Audit& audit) {
  const trust::AuditWanted& wanted = audit.wanted;
  const RunningJob* const job = tables.jobs.find(wanted.task.job);
  if (!wanted.groups.empty() && job != nullptr)
    return static_cast<double>(wanted.groups.size()) / manifest::step_groups(*job->manifest);
  return static_cast<double>(std::min(wanted.samples, wanted.parts)) / wanted.parts;
}

}  // namespace

void note_sample(CoreTables& tables, const Audit& audit, Moment now) {
  if (!audit.wanted.trusted_only || audit.opens) return;
  const PublicKey& worker = audit.wanted.suspect;
  if (tables.trust.level(worker, now.unix) != trust::Level::newcomer) return;
  if (!audit.verifying && !audit.auditor)
    return tables.scheduler.checks().stalls(audit.wanted.task, worker);
  const double share = audit.verifying ? verified_share(tables, audit) : audit.share;
  tables.scheduler.checks().begins(audit.wanted.task, worker, share, now.at);
}

WaitingSamples SampleWatch::samples() const {
  WaitingSamples out;
  for (const auto& [task, audit] : audits_.all()) {
    if (!audit.wanted.trusted_only || audit.opens) continue;
    ++out.waiting;
    out.oldest = std::max(out.oldest, tables_.latest.at - audit.begun);
  }
  return out;
}

void SampleWatch::warn_of_lag(Moment now) {
  if (audits_.all().empty() || now.at < looked_ + std::chrono::minutes(1)) return;
  looked_ = now.at;
  const WaitingSamples found = samples();
  if (found.oldest < sample_lag_max || now.at < warned_ + sample_lag_max) return;
  warned_ = now.at;
  ++tables_.counters.lags;
  log_warning(
      "{} results wait to be checked, the oldest for {} minutes: add a verifier (`weft invite "
      "--verifier`, then `weft work --invite CODE` on another machine).",
      found.waiting, std::chrono::duration_cast<std::chrono::minutes>(found.oldest).count());
}

}  // namespace weft::jobs
