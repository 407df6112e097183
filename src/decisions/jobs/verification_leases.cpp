#include "decisions/jobs/verification_leases.h"

#include <algorithm>
#include <utility>

#include "decisions/jobs/extra_leases.h"

namespace weft::jobs {

void VerificationLeases::leased(const JobId& id, const PublicKey& worker,
                                std::span<const protocol::LeasedTask> tasks, Moment now) {
  for (const auto& task : tasks) {
    // Looked up each time, because rulings may end the job.
    const RunningJob* const job = tables_.jobs.find(id);
    if (job == nullptr || !job->refereed) return;
    const TaskId name{.job = id, .index = task.index};
    parts_.rulings.carry_out(
        tables_.trust.leased(
            name, worker, replica_value(tables_, *job), parts_.stakes.free_of_answers(worker),
            now.unix, task.step_roots ? trust::StepRoots::asked : trust::StepRoots::not_asked),
        now);
    if (const auto trap = tables_.trust.trap_for(name, worker, now.unix))
      parts_.traps.lease(worker, *trap, now);
  }
}

void VerificationLeases::worker_left(const PublicKey& worker, Moment now) {
  parts_.traps.worker_left(worker);
  parts_.polls.worker_left(worker, now);
  parts_.audits.worker_left(worker, now);
}

void VerificationLeases::job_ends(const JobId& job) {
  parts_.canaries.job_ends(job);
  parts_.traps.job_ends(job);
  parts_.polls.job_ends(job);
  parts_.audits.job_ends(job);
}

bool VerificationLeases::result(const PublicKey& worker, const protocol::TaskResult& result,
                                Moment now) {
  return result.attempt == extra_attempt &&
         (parts_.audits.result(worker, result, now) || parts_.polls.result(worker, result, now) ||
          parts_.traps.result(worker, result, now));
}

void VerificationLeases::claim(const PublicKey& worker, const protocol::ReceiptItem& item,
                               Moment now) {
  if (item.attempt != extra_attempt) return;
  (void)(parts_.audits.claim(worker, item, now) || parts_.polls.claim(worker, item, now) ||
         parts_.traps.claim(worker, item, now));
}

bool VerificationLeases::failed(const PublicKey& worker, const TaskId& task, std::uint32_t attempt,
                                Moment now) {
  return attempt == extra_attempt &&
         (parts_.audits.failed(worker, task, now) || parts_.polls.failed(worker, task, now) ||
          parts_.traps.failed(worker, task));
}

void VerificationLeases::inspected(const TaskId& task, const PublicKey& auditor,
                                   trust::AuditOutcome outcome, Moment now) {
  if (!parts_.polls.inspected(task, auditor, outcome, now))
    parts_.audits.inspected(task, auditor, outcome, now);
}

void VerificationLeases::opened(SessionId session, protocol::Opening opening, Moment now) {
  parts_.audits.opened(session, std::move(opening), now);
}

void VerificationLeases::verified(const TaskId& task, const Hash& root, const Checked& checked,
                                  Moment now) {
  parts_.verifier.verified(task, root, checked, now);
}

void VerificationLeases::measured(const JobId& job,
                                  const Result<scheduler::Measurement>& measurement, Moment now) {
  parts_.canaries.measured(job, measurement, now);
}

void VerificationLeases::expire(Moment now) {
  parts_.traps.expire(now);
  parts_.polls.expire(now);
  parts_.canaries.ask_again(now);
  parts_.corrections.ask_again(now);
  parts_.states.expire(now);
  parts_.audits.expire(now);
}

std::optional<Instant> VerificationLeases::deadline() const {
  std::optional<Instant> next;
  for (const auto& each :
       {parts_.audits.deadline(), parts_.traps.deadline(), parts_.polls.deadline(),
        parts_.canaries.deadline(), parts_.corrections.deadline(), parts_.states.deadline()}) {
    if (each) next = next ? std::min(*next, *each) : *each;
  }
  return next;
}

}  // namespace weft::jobs
