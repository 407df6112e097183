#include "decisions/jobs/verification_leases.h"

#include <algorithm>
#include <utility>

#include "common/base/log.h"
#include "decisions/jobs/extra_leases.h"

namespace weft::jobs {

void VerificationLeases::leased(const JobId& id, const PublicKey& worker,
                                std::span<const protocol::LeasedTask> tasks, Moment now) {
  for (const auto& task : tasks) {
    const RunningJob* const job = tables_.jobs.find(id);  // Rulings may end it.
    if (job == nullptr || !job->refereed) return;
    const TaskId name{.job = id, .index = task.index};
    rulings_.carry_out(tables_.trust.leased(name, worker, replica_value(tables_, *job),
                                            stakes_.free_of_answers(worker), now.unix),
                       now);
    if (const auto trap = tables_.trust.trap_for(name, worker, now.unix))
      traps_.lease(worker, *trap, now);
  }
}

void VerificationLeases::worker_left(const PublicKey& worker, Moment now) {
  traps_.worker_left(worker);
  polls_.worker_left(worker, now);
  audits_.worker_left(worker, now);
}

void VerificationLeases::job_ends(const JobId& job) {
  traps_.job_ends(job);
  polls_.job_ends(job);
  audits_.job_ends(job);
}

bool VerificationLeases::result(const PublicKey& worker, const protocol::TaskResult& result,
                                Moment now) {
  return result.attempt == extra_attempt &&
         (audits_.result(worker, result, now) || polls_.result(worker, result, now) ||
          traps_.result(worker, result, now));
}

void VerificationLeases::claim(const PublicKey& worker, const protocol::ReceiptItem& item,
                               Moment now) {
  if (item.attempt != extra_attempt) return;
  (void)(audits_.claim(worker, item, now) || polls_.claim(worker, item, now) ||
         traps_.claim(worker, item, now));
}

bool VerificationLeases::failed(const PublicKey& worker, const TaskId& task, std::uint32_t attempt,
                                Moment now) {
  return attempt == extra_attempt &&
         (audits_.failed(worker, task, now) || polls_.failed(worker, task, now) ||
          traps_.failed(worker, task));
}

void VerificationLeases::inspected(const TaskId& task, const PublicKey& auditor,
                                   trust::AuditOutcome outcome, Moment now) {
  if (!polls_.inspected(task, auditor, outcome, now))
    audits_.inspected(task, auditor, outcome, now);
}

void VerificationLeases::opened(SessionId session, protocol::Opening opening, Moment now) {
  audits_.opened(session, std::move(opening), now);
}

void VerificationLeases::verified(const TaskId& task, const Hash& root, const Checked& checked,
                                  Moment now) {
  audits_.verified(task, root, checked, now);
}

void VerificationLeases::measured(const JobId& job,
                                  const std::optional<scheduler::Measurement>& measurement,
                                  Moment now) {
  if (measurement) {
    tables_.scheduler.canary_measured(job, *measurement, now.at);
  } else {
    log_warning(
        "The verifier cannot run job {}; it waits for a worker that is invited or established.",
        job.text());
  }
}

void VerificationLeases::expire(Moment now) {
  traps_.expire(now);
  polls_.expire(now);
  audits_.expire(now);
}

std::optional<Instant> VerificationLeases::deadline() const {
  std::optional<Instant> next;
  for (const auto& each : {audits_.deadline(), traps_.deadline(), polls_.deadline()}) {
    if (each) next = next ? std::min(*next, *each) : *each;
  }
  return next;
}

}  // namespace weft::jobs
