#include "decisions/trust/case_lifetimes.h"

#include <algorithm>
#include <array>

#include "common/base/check.h"

namespace weft::trust {

void CaseLifetimes::begin(const TaskId& task, const PublicKey& worker, MicroCredits value,
                          MicroCredits stake, StepRoots roots, RefereePass& pass) {
  JobCases* job = tables_.cases.find(task.job);
  if (job == nullptr || task.index >= job->tasks || tables_.votes.is_accepted(task) ||
      job->cases.contains(task.index))
    return;
  const JobTerms& terms = job->terms;
  if (value > 0) job->value = value;
  TaskCase open{.stage = Stage::alone,
                .worker = worker,
                .value = value,
                .rates = {},
                .root = {},
                .accuser = {},
                .suspect = worker};
  if (terms.replicas == 1) {
    // If the worker does not decide alone, its result is sampled in any case, and the task needs no
    // case yet.
    if (terms.audit <= 0 || !tables_.standing.decides(std::array{worker}, pass.now)) return;
    // The client wants audits of single results, and no task is replicated.
    open.rates = {.replica = 0,
                  .audit = terms.audit,
                  .trap = 0,
                  .parts = std::clamp<std::uint32_t>(terms.parts, 1,
                                                     tables_.settings.checks.audit_parts_max)};
    job->cases.emplace(task.index, open);
    tables_.votes.set_ballot(task, {.quorum = 1, .lead = 1, .held = true});
    return;
  }
  TaskStakes& stakes = tables_.stakes;
  const std::uint32_t groups = terms.groups_if(roots);
  open.rates = stakes.rates(worker, terms, pass.now, groups);
  if (stakes.reaches(worker, terms, value, stake, pass.now, groups) &&
      stakes.lock(worker, task, stakes.at_risk(value, open.rates), stake)) {
    job->cases.emplace(task.index, open);
    tables_.votes.set_ballot(task, {.quorum = 1, .lead = 1, .held = true});
    return;
  }
  pass.todo.push_back(NeedReplicas{.task = task, .replicas = terms.replicas});
}

void CaseLifetimes::restore(const JobId& id, MicroCredits value,
                            const std::function<MicroCredits(const PublicKey&)>& stake,
                            RefereePass& pass) {
  JobCases* job = tables_.cases.find(id);
  check(job != nullptr, "a job is restored after it is added");
  if (value > 0) job->value = value;
  for (std::uint32_t index = 0; index < job->tasks; ++index)
    restore_task({.job = id, .index = index}, value, stake, pass);
}

void CaseLifetimes::restore_task(const TaskId& task, MicroCredits value,
                                 const std::function<MicroCredits(const PublicKey&)>& stake,
                                 RefereePass& pass) {
  const auto counted = tables_.votes.counted(task);
  if (counted.empty()) return;
  JobCases& job = tables_.cases.at(task.job);
  const JobTerms& terms = job.terms;
  TaskStakes& stakes = tables_.stakes;
  const PublicKey& first = counted.front().worker;
  const bool is_established = tables_.standing.book().established(first, pass.now);
  const auto goes_on = [&](Stage stage, const Ballot& ballot) {
    job.cases.emplace(task.index, TaskCase{.stage = stage,
                                           .worker = first,
                                           .value = value,
                                           .rates = {},
                                           .root = counted.front().root,
                                           .accuser = {},
                                           .suspect = first});
    tables_.votes.set_ballot(task, ballot);
  };
  if (counted.size() == 1) {
    const bool committed = counted.front().steps != Hash();
    begin(task, first, value, stake(first), committed ? StepRoots::asked : StepRoots::not_asked,
          pass);
  } else if (tables_.votes.differ(task) && tables_.votes.policy_decides(task) &&
             (tables_.standing.trusts_heads() || is_established)) {
    // A task that is open although its quorum is reached had a jury before the restart.
    if (is_established)
      (void)stakes.lock(first, task, stakes.at_risk(value, stakes.rates(first, terms, pass.now)),
                        stake(first));
    goes_on(Stage::disputed, {.quorum = 1, .lead = tables_.jury()});
  } else if (terms.replicas > 1 && counted.size() < terms.replicas * 2 - 1 && is_established) {
    // The task may have been disputed before the restart. If it was not, a few more votes do no
    // harm.
    goes_on(Stage::replicated, {.quorum = terms.replicas, .lead = 2});
  } else if (counted.size() < terms.replicas) {
    // begin() asked for these replicas before the restart.
    pass.todo.push_back(NeedReplicas{.task = task, .replicas = terms.replicas});
  }
}

void CaseLifetimes::lose(const TaskId& task, const PublicKey& worker) {
  tables_.votes.withdraw(task, worker);
  const TaskCase* open = tables_.cases.case_of(task);
  if (open == nullptr || open->stage != Stage::alone || open->worker != worker ||
      !tables_.votes.counted(task).empty())
    return;
  (void)tables_.stakes.unlock(worker, task);
  tables_.votes.clear_ballot(task);
  tables_.cases.at(task.job).cases.erase(task.index);
}

void CaseLifetimes::remove_job(const JobId& id) {
  tables_.votes.remove_job(id);
  const JobCases* job = tables_.cases.find(id);
  if (job == nullptr) return;
  for (const auto& [index, open] : job->cases) {
    const TaskId task{.job = id, .index = index};
    (void)tables_.stakes.unlock(open.worker, task);
    if (open.stage == Stage::held) held_.forget(task, open);
    for (const Mismatch& each : open.mismatches)
      tables_.stakes.unlock_mismatch(each.worker, each.task);
  }
  fault_.remove_job(id);
  tables_.cases.remove_job(id);
}

}  // namespace weft::trust
