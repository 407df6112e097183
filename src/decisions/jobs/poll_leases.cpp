#include "decisions/jobs/poll_leases.h"

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "decisions/jobs/check_rows.h"
#include "decisions/jobs/extra_leases.h"

namespace weft::jobs {

void PollLeases::start(const trust::PollWanted& wanted, Moment now) {
  auto* const job = tables_.jobs.find(wanted.task.job);
  if (job == nullptr) return;
  std::vector<PublicKey> candidates = tables_.scheduler.views().able(wanted.task.job);
  std::set<PublicKey> owners(wanted.except.begin(), wanted.except.end());
  std::erase_if(candidates, [&](const PublicKey& key) {
    auto* const connected = tables_.workers.find(key);
    return connected == nullptr || connected->hello.kind == protocol::WorkerKind::browser ||
           tables_.trust.level(key, now.unix) == trust::Level::newcomer ||
           tables_.trust.standing().admissions().vendor(key) != wanted.vendor ||
           owners.contains(tables_.trust.standing().admissions().owner(key)) ||
           open_.contains({key, wanted.task});
  });
  std::uint32_t asked = 0;
  while (asked < wanted.count && !candidates.empty()) {
    const auto choice =
        trust::draw_below(candidates.size(), tables_.settings.secret, trust::Purpose::poll,
                          wanted.task, wanted.suspect, owners.size());
    const PublicKey worker = candidates[choice];
    owners.insert(tables_.trust.standing().admissions().owner(worker));
    std::erase_if(candidates, [&](const PublicKey& key) {
      return owners.contains(tables_.trust.standing().admissions().owner(key));
    });
    const manifest::Range part{.first = wanted.part.first, .count = wanted.part.count};
    open_.insert_or_assign({worker, wanted.task},
                           PollLease{.suspect = wanted.suspect,
                                     .root = wanted.root,
                                     .part = part,
                                     .answer = {},
                                     .deadline = now.at + tables_.settings.scheduler.wall_max +
                                                 tables_.settings.scheduler.grace});
    lease_extra(tables_, worker, wanted.task, part);
    ++asked;
  }
  for (; asked < wanted.count; ++asked)
    rulings_.carry_out(tables_.trust.polled(wanted.task, wanted.suspect, {},
                                            trust::AuditOutcome::failed, now.unix),
                       now);
}

// Compares the worker's result with the accepted one.
void PollLeases::inspect_if_complete(const PublicKey& worker, const TaskId& task, Moment now) {
  const auto found = open_.find({worker, task});
  if (found == open_.end() || !found->second.answer.complete()) return;
  PollLease& poll = found->second;
  auto* const job = tables_.jobs.find(task.job);
  if (job == nullptr || !job->accepted[task.index] || !poll.answer.agree())
    return end(worker, task, trust::AuditOutcome::failed, now);
  poll.inspecting = true;
  AuditOrder order{.task = task,
                   .manifest = job->manifest,
                   .range = poll.part,
                   .root = job->accepted[task.index]->root,
                   .chunks = {},
                   .opening = {},
                   .suspected = job->accepted[task.index]->outputs,
                   .opened = false,
                   .auditor = worker,
                   .audited = blobs_of(*poll.answer.result)};
  tables_.outbox.effect([this, order = std::move(order)] { tables_.world.inspect(order); });
}

void PollLeases::end(const PublicKey& worker, const TaskId& task, trust::AuditOutcome outcome,
                     Moment now) {
  const auto node = open_.extract({worker, task});
  if (node.empty()) return;
  const PollLease& poll = node.mapped();
  auto* const job = tables_.jobs.find(task.job);
  if (job == nullptr) return;
  if (outcome == trust::AuditOutcome::failed) {
    cancel_extra(tables_, worker, task, "The check has ended.");
  } else {
    const auto whole = manifest::task_range(*job->manifest, task.index);
    const auto pay = static_cast<MicroCredits>(static_cast<double>(replica_value(tables_, *job)) *
                                               poll.part.count / whole.count);
    const bool confirms = outcome == trust::AuditOutcome::agrees;
    tables_.outbox.batch().checks.push_back(
        {.task = task,
         .time = now.unix,
         .worker = poll.suspect,
         .root = poll.root,
         .by = worker,
         .kind = store::Check::Kind::audit,
         .outcome = confirms ? store::Check::Outcome::differs : store::Check::Outcome::failed,
         .ranges = ranges_of(std::array{poll.part}),
         .wrong = confirms ? range_of(poll.part) : std::nullopt,
         .reason = confirms
                       ? "A worker whose device is of the same vendor computes the accepted result."
                       : "A worker whose device is of the same vendor does not compute the "
                         "accepted result: the right answer may differ by device."});
    tables_.send_verdict(task, extra_attempt, worker, pay_.pay(task, worker, pay, "poll", now), {});
  }
  rulings_.carry_out(tables_.trust.polled(task, poll.suspect, worker, outcome, now.unix), now);
}

bool PollLeases::result(const PublicKey& worker, const protocol::TaskResult& result, Moment now) {
  const auto poll = open_.find({worker, result.task});
  if (poll == open_.end()) return false;
  if (poll->second.inspecting) return true;
  poll->second.answer.result = result;
  inspect_if_complete(worker, result.task, now);
  return true;
}

bool PollLeases::claim(const PublicKey& worker, const protocol::ReceiptItem& item, Moment now) {
  const auto poll = open_.find({worker, item.task});
  if (poll == open_.end()) return false;
  if (poll->second.inspecting) return true;
  poll->second.answer.claimed = item.root;
  inspect_if_complete(worker, item.task, now);
  return true;
}

bool PollLeases::failed(const PublicKey& worker, const TaskId& task, Moment now) {
  if (!open_.contains({worker, task})) return false;
  end(worker, task, trust::AuditOutcome::failed, now);
  return true;
}

bool PollLeases::inspected(const TaskId& task, const PublicKey& worker, trust::AuditOutcome outcome,
                           Moment now) {
  const auto poll = open_.find({worker, task});
  if (poll == open_.end() || !poll->second.inspecting) return false;
  end(worker, task, outcome, now);
  return true;
}

void PollLeases::worker_left(const PublicKey& worker, Moment now) {
  std::vector<TaskId> tasks;
  for (const auto& [name, poll] : open_) {
    if (name.first == worker && !poll.inspecting) tasks.push_back(name.second);
  }
  for (const TaskId& task : tasks) end(worker, task, trust::AuditOutcome::failed, now);
}

void PollLeases::job_ends(const JobId& job) {
  std::erase_if(open_, [&](const auto& each) {
    const auto& [worker, task] = each.first;
    if (task.job != job) return false;
    cancel_extra(tables_, worker, task, "The job has ended.");
    return true;
  });
}

void PollLeases::expire(Moment now) {
  std::vector<std::pair<PublicKey, TaskId>> unanswered;
  for (const auto& [name, poll] : open_) {
    if (!poll.inspecting && poll.deadline <= now.at) unanswered.push_back(name);
  }
  for (const auto& [worker, task] : unanswered) end(worker, task, trust::AuditOutcome::failed, now);
}

std::optional<Instant> PollLeases::deadline() const {
  std::optional<Instant> next;
  for (const auto& [name, poll] : open_) {
    if (!poll.inspecting) next = next ? std::min(*next, poll.deadline) : poll.deadline;
  }
  return next;
}

}  // namespace weft::jobs
