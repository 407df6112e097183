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

// Results of open tasks that workers have signed for. No later check can tell whether they are
// right: a newcomer's pay is held as that for any other task, and if it is convicted meanwhile,
// goes to the verification account.
void Core::State::pay_what_ran(const RunningJob& job, Moment now) {
  const auto progress = scheduler.progress(job.row.id);
  if (!progress || !progress->estimate) return;
  const std::uint32_t replicas = job.manifest->verify.replicas;
  for (const auto& [index, of_task] : job.delivered) {
    if (job.accepted[index]) continue;
    std::vector<PublicKey> workers;
    std::vector<OwnerId> owners;
    for (const auto& [worker, delivered] : of_task) {
      if (!delivered.counted || workers.size() >= replicas) continue;
      workers.push_back(worker);
      owners.push_back(owner_of(worker));
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
    auto payees = ledger::equal_shares(pay, owners);
    for (std::size_t i = 0; i < workers.size(); ++i) {
      if (holds_pay_of(workers[i])) payees[i].as = ledger::PayAs::held;
    }
    auto transaction = ledger::pay_task(pay, payees, workers.size(), escrow);
    transaction.what += ", of a job that is not reproducible";
    std::vector<HeldPays::Entry> held;
    for (std::size_t i = 0; i < workers.size(); ++i) {
      if (payees[i].as == ledger::PayAs::held &&
          !std::ranges::contains(held, owners[i], &HeldPays::Entry::owner))
        held.push_back({.worker = workers[i],
                        .owner = owners[i],
                        .funds = ledger::held_by(transaction, owners[i]),
                        .parts = {}});
    }
    const auto moved = move_money(std::move(transaction), now);
    if (!moved)
      log_error("What ran of task {} cannot be paid: {}", pay.task.text(), moved.error().message);
    if (!moved || *moved != ledger::Applied::now) continue;
    for (const HeldPays::Entry& each : held) held_pays.add(each, now.at + settings.pay_held_for);
  }
}

}  // namespace weft::jobs
