#include "decisions/trust/held_results.h"

namespace weft::trust {

void HeldResults::hold(const TaskId& task, RefereePass& pass) {
  TaskCase& open = *tables_.cases.case_of(task);
  open.stage = Stage::held;
  (void)tables_.stakes.unlock(open.worker, task);
  ++tables_.cases.at(task.job).held;
  auto& held = held_[open.worker];
  held.push_back(task);
  if (held.size() > tables_.settings.hold_max) release(TaskId(held.front()), pass);
  release_if_last(task.job, pass);
}

void HeldResults::release(const TaskId& task, RefereePass& pass, std::optional<Hash> winner) {
  if (!winner) {
    if (const TaskCase* open = tables_.cases.case_of(task); open != nullptr) winner = open->root;
  }
  tables_.votes.set_ballot(task, {.quorum = 1, .lead = 1, .winner = winner});
  pass.add(tables_.votes.reconsider(task));
}

void HeldResults::release_if_last(const JobId& id, RefereePass& pass) {
  const JobCases* job = tables_.cases.find(id);
  if (job == nullptr || job->held == 0 ||
      tables_.votes.accepted_count(id) + job->held != job->tasks)
    return;
  for (const auto& [index, open] : job->cases) {
    if (open.stage == Stage::held) release({.job = id, .index = index}, pass);
  }
}

void HeldResults::leave(const TaskId& task, const TaskCase& open) {
  if (open.stage != Stage::held) return;
  forget(task, open);
  --tables_.cases.at(task.job).held;
}

void HeldResults::forget(const TaskId& task, const TaskCase& held) {
  const auto of_worker = held_.find(held.worker);
  if (of_worker == held_.end()) return;
  std::erase(of_worker->second, task);
  if (of_worker->second.empty()) held_.erase(of_worker);
}

void HeldResults::vote(const TaskId& task, Stage stage, const Ballot& ballot, RefereePass& pass) {
  TaskCase& open = *tables_.cases.case_of(task);
  leave(task, open);
  open.stage = stage;
  tables_.votes.set_ballot(task, ballot);
  pass.add(tables_.votes.reconsider(task));
}

void HeldResults::compute_again(const PublicKey& worker, RefereePass& pass) {
  const auto held = held_.extract(worker);
  if (held.empty()) return;
  for (const TaskId& each : held.mapped())
    vote(each, Stage::replicated, {.quorum = 2, .lead = 2}, pass);
}

}  // namespace weft::trust
