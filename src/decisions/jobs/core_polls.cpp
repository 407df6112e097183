// Established workers of a suspect's vendor compute the part that a root found wrong: whether it
// was the worker or its device. What is wanted, and what follows, is the referee's (PollWanted).
#include <algorithm>

#include "decisions/jobs/core_state.h"

namespace weft::jobs {

void Core::State::start_poll(const trust::PollWanted& wanted, Moment now) {
  const auto job = jobs.find(wanted.task.job);
  if (job == jobs.end()) return;
  std::vector<PublicKey> candidates = scheduler.able(wanted.task.job);
  std::set<PublicKey> owners(wanted.except.begin(), wanted.except.end());
  std::erase_if(candidates, [&](const PublicKey& key) {
    const auto connected = workers.find(key);
    return connected == workers.end() ||
           connected->second.hello.kind == protocol::WorkerKind::browser ||
           trust.level(key, now.unix) == trust::Level::newcomer ||
           trust.standing().admissions().vendor(key) != wanted.vendor ||
           owners.contains(trust.standing().admissions().owner(key)) ||
           audits.polls.contains({key, wanted.task});
  });
  std::uint32_t asked = 0;
  while (asked < wanted.count && !candidates.empty()) {
    const auto choice = trust::draw_below(candidates.size(), settings.secret, trust::Purpose::poll,
                                          wanted.task, wanted.suspect, owners.size());
    const PublicKey worker = candidates[choice];
    owners.insert(trust.standing().admissions().owner(worker));
    std::erase_if(candidates, [&](const PublicKey& key) {
      return owners.contains(trust.standing().admissions().owner(key));
    });
    const manifest::Range part{.first = wanted.part.first, .count = wanted.part.count};
    audits.polls.insert_or_assign(
        {worker, wanted.task},
        PollLease{.suspect = wanted.suspect,
                  .root = wanted.root,
                  .part = part,
                  .answer = {},
                  .deadline = now.at + settings.scheduler.wall_max + settings.scheduler.grace});
    lease_extra(worker, wanted.task, part);
    ++asked;
  }
  for (; asked < wanted.count; ++asked)
    act(trust.polled(wanted.task, wanted.suspect, {}, trust::AuditOutcome::failed, now.unix), now);
}

// What the worker handed in is compared with the accepted result.
void Core::State::inspect_poll(const PublicKey& worker, const TaskId& task, Moment now) {
  const auto found = audits.polls.find({worker, task});
  if (found == audits.polls.end() || !found->second.answer.complete()) return;
  PollLease& poll = found->second;
  const auto job = jobs.find(task.job);
  if (job == jobs.end() || !job->second.accepted[task.index] || !poll.answer.agree())
    return poll_ends(worker, task, trust::AuditOutcome::failed, now);
  poll.inspecting = true;
  AuditOrder order{.task = task,
                   .manifest = job->second.manifest,
                   .range = poll.part,
                   .root = job->second.accepted[task.index]->root,
                   .chunks = {},
                   .opening = {},
                   .suspected = job->second.accepted[task.index]->outputs,
                   .opened = false,
                   .auditor = worker,
                   .audited = blobs_of(*poll.answer.result)};
  effect([this, order = std::move(order)] { parts.world.inspect(order); });
}

void Core::State::poll_ends(const PublicKey& worker, const TaskId& task,
                            trust::AuditOutcome outcome, Moment now) {
  const auto node = audits.polls.extract({worker, task});
  if (node.empty()) return;
  const PollLease& poll = node.mapped();
  const auto job = jobs.find(task.job);
  if (job == jobs.end()) return;
  if (outcome == trust::AuditOutcome::failed) {
    send(worker, protocol::Cancel{.tasks = {{.task = task, .attempt = extra_attempt}},
                                  .reason = "The check is over."});
  } else {
    const auto whole = manifest::task_range(*job->second.manifest, task.index);
    const auto pay = static_cast<MicroCredits>(static_cast<double>(replica_value(job->second)) *
                                               poll.part.count / whole.count);
    const bool confirms = outcome == trust::AuditOutcome::agrees;
    note_check(
        {.task = task,
         .time = now.unix,
         .worker = poll.suspect,
         .root = poll.root,
         .by = worker,
         .kind = store::Check::Kind::audit,
         .outcome = confirms ? store::Check::Outcome::differs : store::Check::Outcome::failed,
         .ranges = ranges_of(std::array{poll.part}),
         .wrong = confirms ? range_of(poll.part) : std::nullopt,
         .reason = confirms ? "A worker of the same vendor computes what was accepted."
                            : "A worker of the same vendor does not compute what was "
                              "accepted: the right answer may differ by device."});
    verdict(task, extra_attempt, worker, pay_for_checking(task, worker, pay, "poll", now), {});
  }
  act(trust.polled(task, poll.suspect, worker, outcome, now.unix), now);
}

}  // namespace weft::jobs
