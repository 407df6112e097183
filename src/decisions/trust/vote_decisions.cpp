#include "decisions/trust/vote_decisions.h"

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include "common/base/match.h"
#include "decisions/trust/draw.h"

namespace weft::trust {

std::vector<Ruling> VoteDecisions::run(RefereePass pass) {
  while (!pass.todo.empty()) {
    const Decision decision = std::move(pass.todo.front());
    pass.todo.pop_front();
    std::visit(Match{[&](const Counted& counted) { pass.out.emplace_back(counted); },
                     [&](const JobFailed& failed) {
                       parts_.lifetimes.remove_job(failed.job);
                       pass.out.emplace_back(failed);
                     },
                     [&](const auto& other) { on(other, pass); }},
               decision);
  }
  return std::move(pass.out);
}

void VoteDecisions::on(const Provisional& provisional, RefereePass& pass) {
  const TaskId& task = provisional.task;
  if (tables_.cases.find(task.job) == nullptr) return;
  const std::vector<PublicKey>& agreeing = provisional.agreeing;
  TaskCase& open = tables_.cases.case_for(task, agreeing.front());
  if (open.stage == Stage::auditing || open.stage == Stage::held) return;
  const bool is_alone = open.stage == Stage::alone;
  if (is_alone && agreeing.size() == 1) return on_alone(provisional, open, pass);
  if (tables_.standing.settles(agreeing, pass.now))
    return parts_.held.release(task, pass, provisional.root);
  const bool differ = !is_alone && tables_.votes.groups(task).size() > 1;
  if (!differ && tables_.standing.decides(agreeing, pass.now))
    return parts_.checks.check_pair(task, provisional.root, agreeing.front(), pass);
  if (!differ) {
    parts_.checks.sample(task, provisional.root, agreeing.front(), pass);
    return;
  }
  if (!open.rootless) return parts_.checks.dispute(task, pass);
  // The results differ and no root can decide: asks for one more replica, from a trusted worker.
  pass.out.emplace_back(NeedReplicas{.task = task, .replicas = tables_.votes.votes(task) + 1});
}

void VoteDecisions::on_alone(const Provisional& provisional, TaskCase& open, RefereePass& pass) {
  const TaskId& task = provisional.task;
  const PublicKey& worker = provisional.agreeing.front();
  open.root = provisional.root;
  const bool audits_only = tables_.cases.at(task.job).terms.replicas == 1;
  const auto compute_twice = [&] {
    parts_.held.vote(task, Stage::replicated, {.quorum = 2, .lead = 2}, pass);
  };
  // The worker with the first lease was convicted since then, or another worker was faster.
  if (!audits_only &&
      (worker != open.worker || !tables_.standing.book().established(open.worker, pass.now)))
    return compute_twice();
  if (audits_only) open.worker = worker;
  open.suspect = open.worker;
  if (draw(tables_.secret, Purpose::replica, task, open.worker) < open.rates.replica)
    return compute_twice();
  if (!tables_.standing.watched(open.worker) &&
      draw(tables_.secret, Purpose::audit, task, open.worker) >= audit_rate(task, open, pass))
    return audits_only ? parts_.held.release(task, pass, open.root) : parts_.held.hold(task, pass);
  parts_.checks.sample(task, provisional.root, open.worker, pass);
}

// A result without the roots that its lease asked for can only be checked whole. It is checked at
// the rate of a task with one part, so that a worker that leaves out roots does not cause many
// whole checks.
double VoteDecisions::audit_rate(const TaskId& task, const TaskCase& open,
                                 const RefereePass& pass) const {
  const JobTerms& terms = tables_.cases.at(task.job).terms;
  if (terms.replicas == 1 || terms.groups == 1) return open.rates.audit;
  for (const Replica& each : tables_.votes.counted(task)) {
    if (each.worker == open.worker)
      return tables_.stakes
          .rates(open.worker, terms, pass.now, each.steps == Hash() ? 1 : terms.groups)
          .audit;
  }
  return open.rates.audit;
}

void VoteDecisions::on(const NeedReplicas& need, RefereePass& pass) {
  const TaskCase* open = tables_.cases.case_of(need.task);
  const bool asked =
      open != nullptr && (open->stage == Stage::replicated || open->stage == Stage::newcomer);
  const bool rootless = open != nullptr && open->rootless;
  const bool differ = need.replicas > 2 && tables_.votes.counted(need.task).size() >= 2 &&
                      tables_.votes.differ(need.task);
  if (differ && !tables_.standing.trusts_heads() &&
      !tables_.cases.at(need.task.job).terms.by_heads()) {
    const auto believed = parts_.checks.believed(need.task, rootless, pass.now);
    if (believed.size() == 1) return parts_.held.release(need.task, pass, believed.front().root);
    if (believed.empty() && !rootless) return parts_.checks.dispute(need.task, pass);
  }
  if (differ && asked) return parts_.checks.dispute(need.task, pass);
  pass.out.emplace_back(need);
}

void VoteDecisions::on(const Accepted& accepted, RefereePass& pass) {
  const JobId job = accepted.task.job;
  std::vector<PublicKey> group = accepted.agreeing;
  group.insert(group.end(), accepted.jurors.begin(), accepted.jurors.end());
  const bool by_root =
      tables_.cases.at(job).terms.checked || std::ranges::any_of(group, [&](const PublicKey& each) {
        return tables_.standing.level(each, pass.now) == Level::root;
      });
  parts_.confirmations.by_agreement(accepted.task, group, by_root, pass);
  add_trap(accepted, group, by_root);
  pass.out.emplace_back(accepted);
  close(accepted, by_root, pass);
  parts_.held.release_if_last(job, pass);
}

// Makes the task a trap, because its answer is known now. This needs the agreement of a root or of
// a whole jury: if its workers were accomplices, the trap would convict a worker that is right.
void VoteDecisions::add_trap(const Accepted& accepted, const std::vector<PublicKey>& group,
                             bool by_root) {
  const bool only_roots = tables_.settings.defences.only_roots_convict;
  if (only_roots ? !by_root : group.size() < tables_.jury()) return;
  const JobCases& job = tables_.cases.at(accepted.task.job);
  Trap trap{.task = accepted.task, .root = accepted.root, .value = job.value};
  if (only_roots) {
    trap.client = job.terms.client;
    trap.by = group;
  }
  tables_.traps.add(trap, group);
}

// Ends the case of an accepted task.
void VoteDecisions::close(const Accepted& accepted, bool by_root, RefereePass& pass) {
  const TaskId& task = accepted.task;
  const Defences& defences = tables_.settings.defences;
  JobCases& job = tables_.cases.at(task.job);
  const auto found = job.cases.find(task.index);
  if (found == job.cases.end()) return;
  TaskCase closed = std::move(found->second);
  job.cases.erase(found);
  (void)tables_.stakes.unlock(closed.worker, task);
  parts_.held.leave(task, closed);
  // A decision of trusted workers without a root changes the standing of no auditor.
  if (closed.accuser && (!defences.only_roots_convict || by_root || closed.root_agrees)) {
    const bool suspect_was_right =
        closed.root == accepted.root ||
        (job.terms.agree && job.terms.agree(task, closed.root, accepted.root));
    if (suspect_was_right) {
      parts_.fault.note_refuted(task, closed, pass);
    } else {
      parts_.confirmations.by_root(task.job, *closed.accuser, pass);
      parts_.confirmations.by_check(*closed.accuser, pass);
    }
  }
  parts_.fault.settle(closed, accepted, pass);
}

void VoteDecisions::on(const Refused& refused, RefereePass& pass) {
  pass.out.emplace_back(refused);
  if (!refused.wrong) return;
  if (tables_.settings.defences.only_roots_convict)
    return tables_.standing.sample_failed(refused.worker);
  if (refused.margin < tables_.settings.lead_min)
    return tables_.standing.book().doubt(refused.worker, pass.now);
  const JobCases* job = tables_.cases.find(refused.task.job);
  parts_.convictions.convict(refused.task, refused.worker, job == nullptr ? 0 : job->value,
                             refused.reason, pass);
}

}  // namespace weft::trust
