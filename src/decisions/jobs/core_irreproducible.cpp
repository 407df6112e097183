// Jobs whose right answer depends on the device, on how they are cut, or on chance: they end, no
// worker's standing changes, and the client pays for what ran.
#include <algorithm>

#include "common/base/format.h"
#include "common/base/log.h"
#include "decisions/jobs/core_state.h"

namespace weft::jobs {

void Core::State::end_irreproducible(const JobId& id, std::string_view why, Moment now) {
  const auto job = jobs.find(id);
  if (job == jobs.end()) return;
  pay_what_ran(job->second, now);
  end_job(id,
          {.state = store::JobState::failed,
           .reason = weft::format("not reproducible: {}", why),
           .root = {},
           .outputs = {},
           .ended = now.unix},
          now);
}

// Results of open tasks that workers have signed for. They are not held back: no later check can
// tell whether they are right.
void Core::State::pay_what_ran(const RunningJob& job, Moment now) {
  const auto progress = scheduler.progress(job.row.id);
  if (!progress || !progress->estimate) return;
  const std::uint32_t replicas = job.manifest->verify.replicas;
  for (const auto& [index, of_task] : job.delivered) {
    if (job.accepted[index]) continue;
    std::vector<OwnerId> workers;
    for (const auto& [worker, delivered] : of_task) {
      if (delivered.counted && workers.size() < replicas) workers.push_back(owner_of(worker));
    }
    const ledger::Funds escrow = ledger.escrow(job.row.id);
    const ledger::TaskPay pay{
        .task = {.job = job.row.id, .index = index},
        .client = owner_of(job.row.client),
        .price =
            std::min(scheduler::task_price(*progress->estimate, job.row.tasks), escrow.total()),
        .replicas = replicas,
        .verification_permille = settings.verification_permille};
    if (workers.empty() || pay.price <= 0) continue;
    auto transaction = ledger::pay_task(pay, workers, escrow);
    transaction.what += ", of a job that is not reproducible";
    if (const auto moved = move_money(std::move(transaction), now); !moved)
      log_error("What ran of task {} cannot be paid: {}", pay.task.text(), moved.error().message);
  }
}

}  // namespace weft::jobs
