#include "decisions/jobs/state_audits.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "common/base/log.h"
#include "decisions/jobs/check_rows.h"
#include "decisions/jobs/state_room.h"

namespace weft::jobs {

void StateAudits::sent(const SentStates& answer, Moment now) {
  const ConnectedWorker* const worker = tables_.workers.of_session(answer.session);
  if (worker == nullptr) return;
  tables_.scheduler.heard(worker->hello.key, now.at);
  const protocol::States& told = answer.told;
  Audit* const audit = audits_.find(told.task);
  const RunningJob* const job = tables_.jobs.find(told.task.job);
  // Blobs of an answer that was not asked for are left to the sweep, because they may belong to
  // another worker.
  if (audit == nullptr || job == nullptr || audit->wanted.suspect != worker->hello.key ||
      audit->wanted.attempt != told.attempt || audit->states.stage != AuditStates::Stage::asked)
    return;
  const std::uint64_t bytes = state_bytes(*job->manifest, told.task.index);
  bool are_all = told.states.size() == audit->states.groups.size();
  std::vector<store::OutputBlob> blobs;
  for (std::size_t i = 0; i < told.states.size() && i < answer.is_stored.size(); ++i) {
    const protocol::StepState& state = told.states[i];
    if (answer.is_stored[i]) blobs.push_back({.hash = state.blob, .bytes = state.bytes});
    are_all = are_all && answer.is_stored[i] && state.bytes == bytes &&
              state.group == audit->states.groups[i];
  }
  if (are_all) {
    audit->states.stage = AuditStates::Stage::there;
    audit->states.blobs = std::move(blobs);
    return audits_.verify(*audit, now);
  }
  log_info("The worker {} does not have the states of task {} that a check asks for.",
           worker->hello.key.text(), told.task.text());
  requests_.release(*audit, blobs);
  check_whole(*audit, now);
}

void StateAudits::check_whole(Audit& audit, Moment now) {
  audit.wanted.groups.clear();
  audit.states.replaced = true;
  audits_.verify(audit, now);
}

void StateAudits::worker_came(const PublicKey& worker) {
  for (auto& [task, audit] : audits_.all()) {
    if (audit.wanted.suspect == worker && audit.states.stage == AuditStates::Stage::asked)
      requests_.send(audit);
  }
}

void StateAudits::expire(Moment now) {
  std::vector<TaskId> silent;
  for (auto& [task, audit] : audits_.all()) {
    if (audit.states.stage == AuditStates::Stage::waits_for_room) audits_.verify(audit, now);
    if (audit.states.stage == AuditStates::Stage::asked && audit.deadline <= now.at)
      silent.push_back(task);
  }
  for (const TaskId& task : silent) {
    // Rulings about another task may have ended the job.
    if (const Audit* const audit = audits_.find(task))
      lose(*audit, "The worker did not send the states of the steps that were drawn in time.", now);
  }
}

std::optional<Instant> StateAudits::deadline() const {
  std::optional<Instant> next;
  for (const auto& [task, audit] : audits_.all()) {
    if (audit.states.stage == AuditStates::Stage::asked)
      next = next ? std::min(*next, audit.deadline) : audit.deadline;
  }
  return next;
}

void StateAudits::lose(const Audit& audit, std::string_view why, Moment now) {
  const TaskId task = audit.wanted.task;
  const PublicKey suspect = audit.wanted.suspect;
  ++tables_.counters.states_unanswered;
  log_warning("The result of {} for task {} counts as lost: {}", suspect.text(), task.text(), why);
  std::vector<manifest::Range> whole;
  if (const RunningJob* const job = tables_.jobs.find(task.job))
    whole.push_back(manifest::task_range(*job->manifest, task.index));
  tables_.outbox.batch().checks.push_back({.task = task,
                                           .time = now.unix,
                                           .worker = suspect,
                                           .root = audit.wanted.root,
                                           .by = {},
                                           .kind = store::Check::Kind::sample,
                                           .outcome = outcome_of(trust::AuditOutcome::failed),
                                           .ranges = ranges_of(whole),
                                           .wrong = {},
                                           .reason = std::string(why)});
  tables_.scheduler.checks().ends(task, suspect, sample_outcome(trust::AuditOutcome::failed),
                                  now.at);
  tables_.scheduler.bar(task, suspect, scheduler::Barred::task);
  audits_.forget(task);
  rulings_.carry_out(tables_.trust.unanswered(task, suspect, now.unix), now);
}

}  // namespace weft::jobs
