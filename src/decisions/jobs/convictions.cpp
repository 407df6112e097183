#include "decisions/jobs/convictions.h"

#include <algorithm>
#include <utility>

#include "common/base/log.h"

namespace weft::jobs {

void Convictions::convict(const trust::Convicted& convicted, Moment now) {
  ++tables_.counters.convictions;
  auto* const job = tables_.jobs.find(convicted.task.job);
  const OwnerId owner = tables_.accounts.owner_of(convicted.worker);
  const MicroCredits held = tables_.accounts.slashable_stake(owner);
  // A job that has ended has no client to compensate; the whole amount then goes to the platform.
  const ledger::Slash slash{
      .task = convicted.task,
      .worker = convicted.worker,
      .owner = owner,
      .client = job == nullptr ? OwnerId{} : tables_.accounts.owner_of(job->row.client),
      .penalty = convicted.penalty,
      .damage = job == nullptr ? 0 : convicted.value,
      .stake = held};
  log_warning("{} is convicted over {}: {} {} micro-credits of its stake are slashed.",
              convicted.worker.text(), convicted.task.text(), convicted.reason,
              std::min(held, convicted.penalty));
  auto transaction = ledger::slash(slash);
  if (job == nullptr) transaction.job.reset();
  if (const auto moved = tables_.accounts.move(std::move(transaction), now); !moved)
    log_error("The stake cannot be slashed: {}", moved.error().message);
  const MicroCredits slashed = std::min(held, std::max<MicroCredits>(convicted.penalty, 0));
  corrections_.convicted(convicted.worker, slashed - std::min(slashed, slash.damage), now);
  forfeits_.forfeit(convicted.worker, now);
  sessions_.refresh(convicted.worker, now);  // The worker is suspended now.
  for (auto& jury : juries_)
    std::erase_if(jury.members, [&](const auto& member) {
      return member.worker == convicted.worker && jury.task == convicted.task;
    });
}

void Convictions::pay_juries(Moment now) {
  for (const auto& jury : std::exchange(juries_, {})) {
    for (const auto& member : jury.members) {
      tables_.send_verdict(jury.task, member.attempt, member.worker,
                           pay_.pay(jury.task, member.worker, member.pay, "jury", now), {});
    }
  }
}

void Convictions::add_jury(Jury jury) {
  if (!jury.members.empty()) juries_.push_back(std::move(jury));
}

}  // namespace weft::jobs
