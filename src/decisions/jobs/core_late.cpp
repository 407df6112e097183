// What the coordinator's verifier did not finish in its time is asked of it again, later each time
// (trust/late_check.h), and of other workers that may do it meanwhile: no check waits without end
// because a machine was busy for a moment.
#include <algorithm>

#include "common/base/log.h"
#include "decisions/jobs/core_state.h"

namespace weft::jobs {
namespace {

// A task that was paid has no other verifier: it is tried for a quarter of an hour.
constexpr std::uint32_t paid_tries_max = 8;

}  // namespace

void Core::State::not_checked(Audit& audit, const Checked& checked, Moment now) {
  const TaskId task = audit.wanted.task;
  if (checked.late) {
    audit.late.ran_out(checked.reason, now.at);
    if (audit.late.tries() == trust::LateCheck::tries_max)
      log_warning("{}", audit.late.sentence("the check of " + task.text(), now.at));
  } else {
    audit.late.cannot(checked.reason);
  }
  const bool given_up = !audit.late.waits() || is_given_up(audit, now);
  if (audit.opens || audit.wanted.by_root) {  // No other one may do it.
    if (given_up) return audit_ends(task, trust::AuditOutcome::failed, now);
    audit.deadline = audit.late.next();
    return;
  }
  lease_audit(audit, now);
  if (!audit.auditor && audit.wanted.dispute && given_up) audit_again(task, now);
}

// What can be decided without the verifier, or is worth less than the time that it waits.
bool Core::State::is_given_up(const Audit& audit, Moment now) const {
  if (audit.late.tries() < trust::LateCheck::tries_max) return false;
  if (audit.opens || audit.wanted.by_root) return true;
  return audit.wanted.dispute &&
         std::ranges::any_of(scheduler.able(audit.wanted.task.job), [&](const PublicKey& key) {
           return trust.level(key, now.unix) != trust::Level::newcomer;
         });
}

bool Core::State::verify_again(const TaskId& task, Moment now) {
  const auto found = audits.open.find(task);
  if (found == audits.open.end() || !parts.world.verifies()) return false;
  Audit& audit = found->second;
  if (!audit.late.take_due(now.at)) return false;
  audit.auditor.reset();  // If there is one, it is silent.
  audit.answer = {};
  verify(audit);
  note_sample(audit, now);
  return audit.verifying;
}

void Core::State::not_measured(const JobId& id, const Error& why, Moment now) {
  if (!jobs.contains(id)) return;
  trust::LateCheck& late = audits.canaries[id];
  late.ran_out(why.message, now.at);
  if (late.tries() == 1 || late.tries() == trust::LateCheck::tries_max)
    log_warning("Job {}: {}", id.text(), late.sentence("the measurement of a part", now.at));
}

bool Core::State::recheck_later(const TaskId& task, const Checked& checked, Moment now) {
  if (checked.outcome == trust::AuditOutcome::failed && checked.late) {
    trust::LateCheck& late = audits.paid[task];
    late.ran_out(checked.reason, now.at);
    if (late.tries() < paid_tries_max) return true;
  }
  audits.paid.erase(task);
  return false;
}

void Core::State::ask_late_again(Moment now) {
  std::erase_if(audits.canaries, [&](auto& each) {
    if (!each.second.take_due(now.at)) return false;
    const auto progress = scheduler.progress(each.first);
    if (!progress || progress->estimate) return true;  // A worker has measured it.
    measure_canary(each.first);
    return false;
  });
  for (auto& [task, late] : audits.paid) {
    if (!late.take_due(now.at)) continue;
    if (const auto paid = rechecks.waiting(task)) send_recheck(*paid);
  }
}

Core::State::LateView Core::State::why_late(const JobId& id, Instant now) const {
  if (const auto canary = audits.canaries.find(id);
      canary != audits.canaries.end() && canary->second.is_told())
    return {.sentence = canary->second.sentence("the measurement of a part", now)};
  const Audit* latest = nullptr;
  for (auto each = audits.open.lower_bound({.job = id, .index = 0});
       each != audits.open.end() && each->first.job == id; ++each) {
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
