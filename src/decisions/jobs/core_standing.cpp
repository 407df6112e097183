// Core's records of how far workers are trusted: convictions and what they cost, and standings that
// outlive the process.
#include <algorithm>

#include "common/base/format.h"
#include "common/base/log.h"
#include "decisions/jobs/core_state.h"

namespace weft::jobs {
void Core::State::convict(const trust::Convicted& convicted, Moment now) {
  ++counters.convictions;
  auto* const job = jobs.find(convicted.task.job);
  const OwnerId owner = accounts.owner_of(convicted.worker);
  const MicroCredits held = accounts.slashable_stake(owner);
  // A job that has ended has no client to be compensated any more; then all of it is the
  // platform's.
  const ledger::Slash slash{
      .task = convicted.task,
      .worker = convicted.worker,
      .owner = owner,
      .client = job == nullptr ? OwnerId{} : accounts.owner_of(job->row.client),
      .penalty = convicted.penalty,
      .damage = job == nullptr ? 0 : convicted.value,
      .stake = held};
  log_warning("{} is convicted over {}: {} {} micro-credits of its stake are slashed.",
              convicted.worker.text(), convicted.task.text(), convicted.reason,
              std::min(held, convicted.penalty));
  auto transaction = ledger::slash(slash);
  if (job == nullptr) transaction.job.reset();
  if (const auto moved = accounts.move(std::move(transaction), now); !moved)
    log_error("The stake cannot be slashed: {}", moved.error().message);
  const MicroCredits slashed = std::min(held, std::max<MicroCredits>(convicted.penalty, 0));
  begin_recheck(convicted.worker, slashed - std::min(slashed, slash.damage), now);
  forfeit_held_pay(convicted.worker, now);
  sessions.refresh(convicted.worker, now);  // Suspended; it is told by its verdict.
  for (auto& jury : juries)
    std::erase_if(jury.members, [&](const auto& member) {
      return member.worker == convicted.worker && jury.task == convicted.task;
    });
}
// A worker that helped to decide a dispute is paid like a replica, as far as what was slashed and
// the verification account reach.
void Core::State::pay_juries(Moment now) {
  for (const auto& jury : std::exchange(juries, {})) {
    for (const auto& member : jury.members) {
      send_verdict(jury.task, member.attempt, member.worker,
                   checker_pay.pay(jury.task, member.worker, member.pay, "jury", now), {});
    }
  }
}

}  // namespace weft::jobs
