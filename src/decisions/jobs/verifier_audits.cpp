#include "decisions/jobs/verifier_audits.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "common/base/format.h"
#include "common/base/log.h"
#include "decisions/jobs/check_rows.h"

namespace weft::jobs {

namespace {

// The verifier's explanation of its outcome.
std::string basis_of(const Checked& checked) {
  if (checked.outcome != trust::AuditOutcome::differs) return checked.reason;
  switch (checked.devices) {
    case trust::Devices::one:
      break;
    case trust::Devices::two:
      return "Two devices of the coordinator's machine computed the same result.";
    case trust::Devices::divided:
      return "Two devices of the coordinator's machine computed different results, so the worker's "
             "result is refused and counts against no worker.";
  }
  return "One device of the coordinator's machine computed the check.";
}

// A check of steps says first which steps it is about.
std::string reason_of(const Checked& checked) {
  const bool differs = checked.outcome == trust::AuditOutcome::differs;
  return checked.of_steps && differs ? checked.reason + " " + basis_of(checked) : basis_of(checked);
}

}  // namespace

void VerifierAudits::verified(const TaskId& task, const Hash& root, const Checked& checked,
                              Moment now) {
  const trust::AuditOutcome outcome = checked.outcome;
  Audit* const audit = audits_.find(task);
  if (audit == nullptr || !audit->verifying || audit->wanted.root != root ||
      audit->states.are_awaited())
    return;
  if (checked.unanswered) return states_.lose(*audit, checked.reason, now);
  audit->verifying = false;
  tables_.scheduler.checks().ends(task, audit->wanted.suspect, sample_outcome(outcome), now.at);
  const bool dispute = !audit->wanted.rivals.empty();
  if (!checked.late || audit->late.tries() == 0)
    tables_.outbox.batch().checks.push_back(
        {.task = task,
         .time = now.unix,
         .worker = audit->wanted.suspect,
         .root = root,
         .by = {},
         .kind = dispute ? store::Check::Kind::dispute : store::Check::Kind::sample,
         .outcome = outcome_of(outcome),
         .ranges = ranges_of(audit->drawn),
         .wrong = range_of(checked.wrong),
         .reason = reason_of(checked)});
  if (checked.unsteady) {
    audits_.forget(task);
    return rulings_.end_irreproducible(task.job, checked.reason, now);
  }
  if (outcome == trust::AuditOutcome::failed) return not_checked(*audit, checked, now);
  if (outcome == trust::AuditOutcome::differs) {
    ++tables_.counters.audits_differ;
    log_warning("The verifier finds a wrong {} in the result of {} for task {}.",
                checked.of_steps ? "step" : "part", audit->wanted.suspect.text(), task.text());
  }
  if (auto* const job = tables_.jobs.find(task.job);
      job != nullptr && outcome == trust::AuditOutcome::agrees)
    job->verified.insert(task.index);
  trust::Finding finding{
      .devices = checked.devices,
      .vendor = checked.vendor,
      .part = part_of(checked.wrong),
      .rivals = {},
      .refuted = checked.of_steps ? trust::Refuted::steps : trust::Refuted::result};
  const std::vector<Hash>& rivals = audit->rivals;
  for (std::size_t i = 0; i < std::min(rivals.size(), checked.apart.size()); ++i)
    finding.rivals.emplace_back(rivals[i], *part_of(checked.apart[i]));
  audits_.forget(task);
  rulings_.carry_out(
      tables_.trust.audited(task, {}, outcome, now.unix, trust::Auditor::coordinator, finding),
      now);
}

void VerifierAudits::not_checked(Audit& audit, const Checked& checked, Moment now) {
  const TaskId task = audit.wanted.task;
  const bool had_states = audit.states.stage == AuditStates::Stage::there;
  requests_.release(audit);  // A later try asks for the states again.
  if (checked.late) {
    audit.late.ran_out(checked.reason, now.at);
    if (audit.late.tries() == trust::LateCheck::tries_max)
      log_warning("{}", audit.late.sentence("the check of " + task.text(), now.at));
  } else {
    audit.late.cannot(checked.reason);
  }
  const bool is_told = audit.late.tries() >= trust::LateCheck::tries_max;
  // The worker may have chosen its states so that the groups take too long. It has not chosen the
  // data from which the whole task is computed.
  if (checked.late && had_states && is_told) return states_.check_whole(audit, now);
  const bool given_up = !audit.late.waits() || is_given_up(audit, now);
  const bool in_vain = audit.states.replaced && checked.late && is_told;
  const auto lose = [&] {
    states_.lose(audit,
                 "The worker did not send the states of the steps that were drawn, or states from "
                 "which they take too long, and the verifier did not compute the whole task in "
                 "time.",
                 now);
  };
  if (audit.opens || audit.wanted.by_root) {  // Only the verifier may do it.
    // The lease is lost. Otherwise two accomplices that send no states would decide together.
    if (in_vain) return lose();
    if (given_up) return audits_.end(task, trust::AuditOutcome::failed, now);
    audit.deadline = audit.late.next();
    return;
  }
  audits_.lease(audit, now);
  if (!audit.auditor && in_vain) return lose();
  if (!audit.auditor && audit.wanted.dispute && given_up) audits_.again(task, now);
}

bool VerifierAudits::is_given_up(const Audit& audit, Moment now) const {
  if (audit.late.tries() < trust::LateCheck::tries_max) return false;
  if (audit.opens || audit.wanted.by_root) return true;
  return audit.wanted.dispute &&
         std::ranges::any_of(tables_.scheduler.views().able(audit.wanted.task.job),
                             [&](const PublicKey& key) {
                               return tables_.trust.level(key, now.unix) != trust::Level::newcomer;
                             });
}

LateView VerifierAudits::why_late(const JobId& id, Instant now) const {
  const Audit* latest = nullptr;
  const auto& all = audits_.all();
  for (auto each = all.lower_bound({.job = id, .index = 0});
       each != all.end() && each->first.job == id; ++each) {
    const Audit& audit = each->second;
    if (audit.auditor || !audit.late.is_told()) continue;
    if (latest == nullptr || audit.late.tries() > latest->late.tries()) latest = &audit;
  }
  if (latest == nullptr) return {};
  const std::uint32_t index = latest->wanted.task.index;
  return {.task = index,
          .sentence = latest->late.sentence(weft::format("the check of task {}", index), now)};
}

}  // namespace weft::jobs
