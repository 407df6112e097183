#include "decisions/trust/check_outcomes.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "decisions/trust/draw.h"

namespace weft::trust {

void CheckOutcomes::audited(const TaskId& task, const PublicKey& auditor, AuditOutcome outcome,
                            Auditor who, const Finding& finding, RefereePass& pass) {
  const Standing& standing = tables_.standing;
  TaskCase& open = *tables_.cases.case_of(task);
  open.finding = finding;
  if (!tables_.settings.defences.steps_are_their_workers) open.finding.refuted = Refuted::result;
  if (who == Auditor::worker)
    open.finding.vendor = std::string(standing.admissions().vendor(auditor));
  const Level by = who == Auditor::coordinator ? Level::root : standing.level(auditor, pass.now);
  const bool may_be_newcomers =
      standing.trusts_heads() || tables_.cases.at(task.job).terms.by_heads();
  if (by == Level::newcomer && !may_be_newcomers)
    outcome = AuditOutcome::failed;  // The auditor has lost its level since it was asked.
  switch (outcome) {
    case AuditOutcome::agrees:
      return agrees(task, auditor, by, pass);
    case AuditOutcome::differs:
      return differs(task, auditor, by, pass);
    case AuditOutcome::failed:
      return failed(task, pass);
  }
}

void CheckOutcomes::agrees(const TaskId& task, const PublicKey& auditor, Level by,
                           RefereePass& pass) {
  const Standing& standing = tables_.standing;
  TaskCase& open = *tables_.cases.case_of(task);
  if (by == Level::root) open.root_agrees = true;
  if (standing.trusts_heads()) return pass_on(task, pass);
  if (by != Level::root && tables_.votes.groups(task).size() > 1)
    return parts_.checks.dispute(task, pass);
  if (by == Level::established) {
    if (standing.level(open.suspect, pass.now) == Level::newcomer && open.seconded.empty()) {
      // Only the newcomer itself and one established worker say that the result is right: a second
      // established worker, of another owner, has to agree.
      open.seconded.push_back(auditor);
      parts_.checks.sample(task, Hash(open.root), PublicKey(open.suspect), pass);
      return;
    }
    if (!open.believed && standing.root_at_hand() &&
        draw(tables_.secret, Purpose::recheck, task, auditor) <
            tables_.settings.defences.root_rechecks)
      return parts_.checks.check_pair(task, Hash(open.root), PublicKey(open.suspect), pass);
  }
  pass_on(task, pass);
}

void CheckOutcomes::differs(const TaskId& task, const PublicKey& auditor, Level by,
                            RefereePass& pass) {
  if (by == Level::root && tables_.settings.defences.only_roots_convict) return reject(task, pass);
  tables_.cases.case_of(task)->accuser = auditor;
  parts_.checks.dispute(task, pass);
}

void CheckOutcomes::failed(const TaskId& task, RefereePass& pass) {
  TaskCase& open = *tables_.cases.case_of(task);
  const bool disputed = tables_.votes.groups(task).size() > 1;
  if (open.believed && !disputed) return pass_on(task, pass);
  if (!tables_.standing.trusts_heads() && (disputed || open.accuser)) {
    // Without a root, trusted workers compute the task again.
    open.rootless = true;
    return parts_.held.vote(task, Stage::disputed, {.quorum = 2, .lead = 1}, pass);
  }
  parts_.held.vote(task, Stage::replicated, {.quorum = 2, .lead = 2}, pass);
}

void CheckOutcomes::reject(const TaskId& task, RefereePass& pass) {
  TaskCase& open = *tables_.cases.case_of(task);
  if (open.finding.refuted == Refuted::steps) return reject_steps(task, pass);
  const Hash root = open.root;
  std::vector<PublicKey> wrong;
  for (const Replica& each : tables_.votes.counted(task)) {
    if (each.root == root) wrong.push_back(each.worker);
  }
  bool believed = false;
  for (const PublicKey& worker : wrong) {
    believed = believed || tables_.standing.decides(std::array{worker}, pass.now);
    parts_.fault.note(task, worker, root, pass);
  }
  if (believed) {
    // If the operator's own worker and a root differ, the job's right answer differs by device.
    const JobId job = task.job;
    parts_.lifetimes.remove_job(job);
    pass.out.emplace_back(JobFailed{.job = job,
                                    .reason = "The operator's worker and the verifier differ.",
                                    .irreproducible = true});
    return;
  }
  // The auditor that reported the result was right.
  if (open.accuser)
    parts_.confirmations.by_root(task.job, *std::exchange(open.accuser, std::nullopt), pass);
  begin_again(task);
  pass.add(tables_.votes.reject(task, root, "A check of the result found a wrong part."));
  for (const PublicKey& worker : wrong) parts_.held.compute_again(worker, pass);
}

// The result itself may be right, so other workers, also the operator's, may still give its root,
// and the job continues.
void CheckOutcomes::reject_steps(const TaskId& task, RefereePass& pass) {
  TaskCase& open = *tables_.cases.case_of(task);
  const PublicKey suspect = open.suspect;
  const Hash root = open.root;
  parts_.fault.note(task, suspect, root, pass);
  open.accuser.reset();  // The auditor may be wrong about the result.
  begin_again(task);
  pass.add(tables_.votes.reject(task, root, "A check of the result found a wrong step.", suspect));
  parts_.held.compute_again(suspect, pass);
}

void CheckOutcomes::unanswered(const TaskId& task, RefereePass& pass) {
  TaskCase& open = *tables_.cases.case_of(task);
  const PublicKey suspect = open.suspect;
  const Hash root = open.root;
  open.accuser.reset();
  begin_again(task);
  pass.add(tables_.votes.reject(task, root,
                                "The worker did not send the states of the steps that were drawn.",
                                suspect, Trust::Rejected::lost));
}

void CheckOutcomes::begin_again(const TaskId& task) {
  TaskCase& open = *tables_.cases.case_of(task);
  open.stage = Stage::newcomer;
  open.root = {};
  open.root_agrees = false;
  open.believed = false;
  open.seconded.clear();
  tables_.votes.clear_ballot(task);
}

void CheckOutcomes::pass_on(const TaskId& task, RefereePass& pass) {
  const Standing& standing = tables_.standing;
  const TaskCase& open = *tables_.cases.case_of(task);
  // An established worker did the task alone.
  const bool own = !standing.trusts_heads() && open.worker == open.suspect &&
                   standing.book().established(open.worker, pass.now) &&
                   tables_.cases.at(task.job).terms.replicas > 1 &&
                   tables_.stakes.locked(open.worker) > 0;
  parts_.confirmations.by_check(open.suspect, pass);
  if (open.root_agrees) note_root_agrees(task, pass);
  // A result that is wrong in few parts may have passed. It is held, and is computed again if its
  // worker is found wrong meanwhile.
  if (own) return parts_.held.hold(task, pass);
  parts_.held.release(task, pass, Hash(open.root));
}

void CheckOutcomes::note_root_agrees(const TaskId& task, RefereePass& pass) {
  const TaskCase& open = *tables_.cases.case_of(task);
  // The root refutes the other results, each only once. A held result may be checked again; if each
  // check counted, two workers that are refuted by each other's held results would have these
  // computed again without end.
  for (const Replica& each : tables_.votes.counted(task)) {
    if (!std::ranges::contains(open.rivals, each.root)) continue;
    if (tables_.settings.defences.refuted_once &&
        std::ranges::any_of(open.mismatches, [&](const Mismatch& noted) {
          return noted.worker == each.worker && noted.root == each.root;
        }))
      continue;
    parts_.fault.note(task, each.worker, each.root, pass);
    parts_.held.compute_again(each.worker, pass);
  }
  std::vector<PublicKey> right;
  for (const Replica& each : tables_.votes.counted(task)) {
    if (each.root != open.root) continue;
    tables_.standing.sample_passed(each.worker);
    parts_.confirmations.by_root(task.job, each.worker, pass);
    right.push_back(each.worker);
  }
  parts_.fault.note_right(task.job, right, pass);
}

}  // namespace weft::trust
