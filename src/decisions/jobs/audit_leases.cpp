#include "decisions/jobs/audit_leases.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "common/base/log.h"
#include "decisions/jobs/audit_choices.h"
#include "decisions/jobs/check_rows.h"
#include "decisions/jobs/extra_leases.h"
#include "decisions/jobs/sample_watch.h"
#include "decisions/trust/audit.h"

namespace weft::jobs {
namespace {

// The job of an audit, and the result that the suspect delivered.
struct Suspected {
  RunningJob& job;
  const protocol::TaskResult& result;
};

// No value if the job or the result no longer exists.
std::optional<Suspected> suspected(CoreTables& tables, const Audit& audit) {
  RunningJob* const job = tables.jobs.find(audit.wanted.task.job);
  if (job == nullptr) return std::nullopt;
  const auto delivered = job->delivered.find(audit.wanted.task.index);
  if (delivered == job->delivered.end()) return std::nullopt;
  const auto found = delivered->second.find(audit.wanted.suspect);
  if (found == delivered->second.end()) return std::nullopt;
  return Suspected{.job = *job, .result = found->second.result};
}

}  // namespace

void AuditLeases::start(const trust::AuditWanted& wanted, Moment now) {
  auto* const job = tables_.jobs.find(wanted.task.job);
  if (job == nullptr) return;
  const auto whole = manifest::task_range(*job->manifest, wanted.task.index);
  const auto part =
      trust::part_of({.first = whole.first, .count = whole.count}, wanted.parts, wanted.part);
  Audit audit{.wanted = wanted,
              .range = {.first = part.first, .count = part.count},
              .share = static_cast<double>(part.count) / whole.count,
              .chunks = {},
              .opening = {},
              .asked = {},
              .auditor = {},
              .answer = {},
              .deadline = now.at,
              .begun = now.at};
  audit.opens = !wanted.trusted_only ||
                (!wanted.dispute && !wanted.by_root &&
                 tables_.trust.level(wanted.suspect, now.unix) != trust::Level::newcomer &&
                 tables_.workers.contains(wanted.suspect) && !verifier_has_room());
  ++tables_.counters.audits;
  forget(wanted.task);
  if (!audit.opens) {
    audit.range = audited_range(wanted, whole);
    audit.share = static_cast<double>(audit.range.count) / whole.count;
    const auto place = open_.insert_or_assign(wanted.task, std::move(audit)).first;
    if (tables_.world.verifies()) {
      verify(place->second, now);
      return note_sample(tables_, place->second, now);
    }
    if (wanted.by_root) return end(wanted.task, trust::AuditOutcome::failed, now);
    return lease(place->second, now);
  }
  audit.chunks = chunks_to_open(*job->manifest, wanted.task.index, audit.range);
  tables_.workers.send(
      wanted.suspect,
      protocol::OpenChunks{.task = wanted.task, .attempt = wanted.attempt, .chunks = audit.chunks});
  const auto place = open_.insert_or_assign(wanted.task, std::move(audit)).first;
  lease(place->second, now);
}

void AuditLeases::verify(Audit& audit, Moment now) {
  const auto found = suspected(tables_, audit);
  if (!found) return;
  audit.verifying = true;
  audit.of_newcomer =
      tables_.trust.level(audit.wanted.suspect, tables_.latest.unix) == trust::Level::newcomer;
  audit.tried_verifier = true;
  if (!states_.are_there(audit, now)) return;
  VerifyOrder order = verify_order(tables_, audit, found->job, found->result);
  order.waits_for_second = audit.late.has_patience();
  tables_.outbox.effect([this, order = std::move(order)] { tables_.world.verify(order); });
}

// True if the verifier has time for the results of established workers; they audit each other only
// if it has, because the verifier cannot be an accomplice. Waiting newcomers' results take no more
// than half of its time.
bool AuditLeases::verifier_has_room() const {
  constexpr std::size_t room = 64;
  if (!tables_.world.verifies()) return false;
  std::size_t waiting = 0;
  for (const auto& [task, audit] : open_) {
    if (audit.verifying && !audit.of_newcomer && ++waiting >= room) return false;
  }
  return true;
}

void AuditLeases::worker_came(Moment now) {
  for (auto& [task, audit] : open_) {
    if (!audit.auditor && !audit.verifying && audit.wanted.trusted_only && !audit.opens)
      lease(audit, now);
  }
}

void AuditLeases::lease(Audit& audit, Moment now) {
  const TaskId& task = audit.wanted.task;
  auto* const job = tables_.jobs.find(task.job);
  if (job == nullptr) return;
  audit.deadline = now.at + tables_.settings.scheduler.wall_max + tables_.settings.scheduler.grace;
  audit.auditor.reset();
  audit.answer = {};
  const std::vector<PublicKey> able = possible_auditors(tables_, audit, *job, now);
  if (able.empty() && audit.opens && audit.wanted.trusted_only && audit.asked.empty() &&
      tables_.world.verifies())
    return verify(audit, now);
  if (able.empty()) {  // A worker may join until the deadline.
    if (audit.late.waits()) audit.deadline = audit.late.next();
    return note_sample(tables_, audit, now);
  }
  const auto choice =
      trust::draw_below(able.size(), tables_.settings.secret, trust::Purpose::auditor, task,
                        audit.wanted.suspect, audit.asked.size());
  audit.auditor = able[choice];
  audit.asked.insert(*audit.auditor);
  lease_extra(tables_, *audit.auditor, task, audit.range);
  note_sample(tables_, audit, now);
}

void AuditLeases::again(const TaskId& task, Moment now) {
  const auto audit = open_.find(task);
  if (audit == open_.end() || audit->second.inspecting || audit->second.verifying) return;
  if (!audit->second.opens) {
    // The audit waits until a worker connects that may decide it. For differing results it fails
    // instead, so that other workers compute the task again.
    if (audit->second.wanted.dispute && audit->second.asked.empty())
      return end(task, trust::AuditOutcome::failed, now);
    if (audit->second.asked.size() >= auditors_max) audit->second.asked.clear();
    lease(audit->second, now);
    if (audit->second.auditor || audit->second.asked.empty()) return;
    // No other worker is left: the workers that were asked are asked once more.
    audit->second.asked.clear();
    return lease(audit->second, now);
  }
  if (audit->second.asked.size() >= auditors_max || !audit->second.opening)
    return end(task, trust::AuditOutcome::failed, now);
  lease(audit->second, now);
  if (!audit->second.auditor) end(task, trust::AuditOutcome::failed, now);
}

void AuditLeases::forget(const TaskId& task) {
  if (auto node = open_.extract(task); !node.empty()) states_.release(node.mapped());
}

void AuditLeases::end(const TaskId& task, trust::AuditOutcome outcome, Moment now) {
  auto node = open_.extract(task);
  if (node.empty()) return;
  states_.release(node.mapped());
  const Audit& audit = node.mapped();
  tables_.scheduler.checks().ends(task, audit.wanted.suspect, sample_outcome(outcome), now.at);
  const PublicKey auditor = audit.auditor.value_or(PublicKey{});
  if (audit.auditor && tables_.jobs.contains(task.job))
    tables_.outbox.batch().checks.push_back(
        {.task = task,
         .time = now.unix,
         .worker = audit.wanted.suspect,
         .root = audit.wanted.root,
         .by = auditor,
         .kind = audit.opens ? store::Check::Kind::audit : store::Check::Kind::sample,
         .outcome = outcome_of(outcome),
         .ranges = ranges_of(std::array{audit.range}),
         .wrong = {},
         .reason = {}});
  if (audit.auditor) {
    if (audit.answer.agree()) {
      auto* const job = tables_.jobs.find(task.job);
      // The auditor is told and paid when the task is accepted.
      if (job != nullptr) {
        auto& auditors = job->auditors[task.index];
        std::erase_if(auditors, [&](const auto& each) { return each.worker == auditor; });
        auditors.push_back({.worker = auditor,
                            .share = audit.share,
                            .accuser = outcome == trust::AuditOutcome::differs});
      }
    } else {
      cancel_extra(tables_, auditor, task, "The audit has ended.");
    }
  }
  if (outcome == trust::AuditOutcome::differs) {
    ++tables_.counters.audits_differ;
    log_warning("The audit of task {} by {} differs from the result of {}.", task.text(),
                auditor.text(), audit.wanted.suspect.text());
  }
  rulings_.carry_out(tables_.trust.audited(task, auditor, outcome, now.unix, trust::Auditor::worker,
                                           {.devices = trust::Devices::one,
                                            .vendor = {},
                                            .part = part_of(audit.range),
                                            .rivals = {}}),
                     now);
}

void AuditLeases::inspect_if_complete(Audit& audit) {
  if (audit.inspecting || (audit.opens && !audit.opening) || !audit.answer.agree()) return;
  const auto found = suspected(tables_, audit);
  if (!found) return;
  audit.inspecting = true;
  AuditOrder order{.task = audit.wanted.task,
                   .manifest = found->job.manifest,
                   .range = audit.range,
                   .root = audit.wanted.root,
                   .chunks = audit.chunks,
                   .opening = audit.opening.value_or(protocol::Opening{}),
                   .suspected = blobs_of(found->result),
                   .opened = audit.opens,
                   .auditor = *audit.auditor,
                   .audited = blobs_of(*audit.answer.result)};
  tables_.outbox.effect([this, order = std::move(order)] { tables_.world.inspect(order); });
}

void AuditLeases::opened(SessionId session, protocol::Opening opening, Moment now) {
  auto* worker = tables_.workers.of_session(session);
  if (worker == nullptr) return;
  const PublicKey key = worker->hello.key;
  tables_.scheduler.heard(key, now.at);
  const auto audit = open_.find(opening.task);
  if (audit == open_.end() || audit->second.wanted.suspect != key ||
      audit->second.wanted.attempt != opening.attempt)
    return;
  if (opening.roots.empty())
    return end(opening.task, trust::AuditOutcome::failed,
               now);  // The suspect no longer has its result.
  if (!audit->second.opening) audit->second.opening = std::move(opening);
  inspect_if_complete(audit->second);
}

// The auditor of a task has not answered in time: it is not paid and does not count, and a result
// that it still delivers is too late.
void AuditLeases::note_silence(const TaskId& task) {
  const auto audit = open_.find(task);
  if (audit == open_.end() || !audit->second.auditor) return;
  if (audit->second.answer.agree()) return;  // The auditor has answered; the suspect is late.
  ++tables_.counters.audits_unanswered;
  log_warning("The auditor {} did not answer for task {} in time; another auditor is drawn.",
              audit->second.auditor->text(), task.text());
  cancel_extra(tables_, *audit->second.auditor, task, "The audit was not done in time.");
}

Audit* AuditLeases::find(const TaskId& task) {
  const auto found = open_.find(task);
  return found == open_.end() ? nullptr : &found->second;
}

Audit* AuditLeases::of_auditor(const TaskId& task, const PublicKey& worker) {
  Audit* const audit = find(task);
  return audit == nullptr || audit->auditor != worker ? nullptr : audit;
}

bool AuditLeases::result(const PublicKey& worker, const protocol::TaskResult& result, Moment now) {
  Audit* const audit = of_auditor(result.task, worker);
  if (audit == nullptr) return false;
  if (audit->inspecting) return true;
  audit->answer.result = result;
  answered(*audit, now);
  return true;
}

bool AuditLeases::claim(const PublicKey& worker, const protocol::ReceiptItem& item, Moment now) {
  Audit* const audit = of_auditor(item.task, worker);
  if (audit == nullptr) return false;
  if (audit->inspecting) return true;
  audit->answer.claimed = item.root;
  answered(*audit, now);
  return true;
}

void AuditLeases::answered(Audit& audit, Moment now) {
  if (audit.answer.complete() && !audit.answer.agree()) return again(audit.wanted.task, now);
  inspect_if_complete(audit);
}

bool AuditLeases::failed(const PublicKey& worker, const TaskId& task, Moment now) {
  const Audit* const audit = of_auditor(task, worker);
  if (audit == nullptr || audit->inspecting) return false;
  again(task, now);
  return true;
}

void AuditLeases::inspected(const TaskId& task, const PublicKey& auditor,
                            trust::AuditOutcome outcome, Moment now) {
  const Audit* const audit = of_auditor(task, auditor);
  if (audit != nullptr && audit->inspecting) end(task, outcome, now);
}

void AuditLeases::worker_left(const PublicKey& worker, Moment now) {
  std::vector<TaskId> tasks;
  for (const auto& [task, audit] : open_) {
    if (audit.auditor == worker && !audit.inspecting) tasks.push_back(task);
  }
  for (const TaskId& task : tasks) {
    if (const auto audit = open_.find(task); audit != open_.end()) lease(audit->second, now);
  }
}

void AuditLeases::job_ends(const JobId& job) {
  std::erase_if(open_, [&](auto& each) {
    auto& [task, audit] = each;
    if (task.job != job) return false;
    states_.release(audit);
    if (audit.auditor) cancel_extra(tables_, *audit.auditor, task, "The job has ended.");
    return true;
  });
}

bool AuditLeases::verify_again(const TaskId& task, Moment now) {
  Audit* const audit = find(task);
  if (audit == nullptr || !tables_.world.verifies() || !audit->late.take_due(now.at)) return false;
  audit->auditor.reset();  // An auditor that has not answered.
  audit->answer = {};
  verify(*audit, now);
  note_sample(tables_, *audit, now);
  return audit->verifying;
}

void AuditLeases::expire(Moment now) {
  std::vector<TaskId> late;
  for (const auto& [task, audit] : open_) {
    if (!audit.inspecting && !audit.verifying && audit.deadline <= now.at) late.push_back(task);
  }
  for (const TaskId& task : late) {
    note_silence(task);
    if (!verify_again(task, now)) again(task, now);
  }
}

std::optional<Instant> AuditLeases::deadline() const {
  std::optional<Instant> next;
  for (const auto& [task, audit] : open_) {
    if (!audit.inspecting && !audit.verifying)
      next = next ? std::min(*next, audit.deadline) : audit.deadline;
  }
  return next;
}

}  // namespace weft::jobs
