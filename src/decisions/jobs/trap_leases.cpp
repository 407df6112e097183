#include "decisions/jobs/trap_leases.h"

#include <algorithm>
#include <string>

#include "decisions/jobs/extra_leases.h"

namespace weft::jobs {

void TrapLeases::lease(const PublicKey& worker, const trust::Trap& trap, Moment now) {
  auto* const job = tables_.jobs.find(trap.task.job);
  // A job can be a trap only if it runs and has a single right answer.
  if (job == nullptr || !job->manifest->verify.compare.exact) return;
  ++tables_.counters.traps;
  open_.insert_or_assign({worker, trap.task},
                         TrapLease{.trap = trap,
                                   .answer = {},
                                   .deadline = now.at + tables_.settings.scheduler.wall_max +
                                               tables_.settings.scheduler.grace});
  lease_extra(tables_, worker, trap.task, manifest::task_range(*job->manifest, trap.task.index));
}

void TrapLeases::spring_if_complete(const PublicKey& worker, const TaskId& task, Moment now) {
  const auto found = open_.find({worker, task});
  if (found == open_.end() || !found->second.answer.complete()) return;
  const TrapLease lease = std::move(found->second);
  open_.erase(found);
  const bool right = lease.answer.agree() && lease.answer.result->root == lease.trap.root;
  // The verdict does not show that the task was a trap.
  tables_.send_verdict(
      task, extra_attempt, worker,
      right ? std::optional<MicroCredits>(pay_.pay(task, worker, lease.trap.value, "trap", now))
            : std::nullopt,
      right ? "" : "The result differs from the accepted one.");
  rulings_.carry_out(tables_.trust.trap_answered(lease.trap, worker, right, now.unix), now);
}

bool TrapLeases::result(const PublicKey& worker, const protocol::TaskResult& result, Moment now) {
  const auto trap = open_.find({worker, result.task});
  if (trap == open_.end()) return false;
  trap->second.answer.result = result;
  spring_if_complete(worker, result.task, now);
  return true;
}

bool TrapLeases::claim(const PublicKey& worker, const protocol::ReceiptItem& item, Moment now) {
  const auto trap = open_.find({worker, item.task});
  if (trap == open_.end()) return false;
  trap->second.answer.claimed = item.root;
  spring_if_complete(worker, item.task, now);
  return true;
}

bool TrapLeases::failed(const PublicKey& worker, const TaskId& task) {
  return open_.erase({worker, task}) > 0;
}

void TrapLeases::worker_left(const PublicKey& worker) {
  std::erase_if(open_, [&](const auto& each) { return each.first.first == worker; });
}

void TrapLeases::job_ends(const JobId& job) {
  std::erase_if(open_, [&](const auto& each) { return each.first.second.job == job; });
}

void TrapLeases::expire(Moment now) {
  std::erase_if(open_, [&](const auto& each) { return each.second.deadline <= now.at; });
}

std::optional<Instant> TrapLeases::deadline() const {
  std::optional<Instant> next;
  for (const auto& [name, trap] : open_)
    next = next ? std::min(*next, trap.deadline) : trap.deadline;
  return next;
}

}  // namespace weft::jobs
