// Core's records of how far workers are trusted: convictions and what they cost, and standings that
// outlive the process.
#include <algorithm>

#include "common/base/format.h"
#include "common/base/log.h"
#include "decisions/jobs/core_state.h"

namespace weft::jobs {
void Core::State::restore_standings(const store::Loaded& loaded) {
  for (const auto& row : loaded.standings) {
    trust.standing().book().restore(row.worker, {.verified = row.verified,
                                                 .updated = row.updated,
                                                 .wrong = row.wrong,
                                                 .suspended_until = row.suspended_until});
    if (row.suspended_until > 0) parts.book.bar(row.worker, row.suspended_until);
  }
  for (const auto& row : loaded.client_shares)
    trust.standing().evidence().restore(row.worker,
                                        {.client = row.client, .weight = row.weight, .at = row.at});
  for (const auto& row : loaded.mismatches)
    trust.convictions().restore_mismatch(
        row.worker, {.client = row.client, .task = row.task, .at = row.at, .penalty = row.penalty});
}

void Core::State::store_standings(Moment now) {
  for (const PublicKey& worker : trust.standing().book().take_moved()) {
    refresh(worker, now);
    const trust::Record record = trust.book().record(worker);
    batch.standings.push_back({.worker = worker,
                               .verified = record.verified,
                               .updated = record.updated,
                               .wrong = record.wrong,
                               .suspended_until = record.suspended_until});
    for (const auto& share : trust.standing().evidence().take_changed(worker))
      batch.client_shares.push_back(
          {.row =
               {.worker = worker, .client = share.client, .weight = share.weight, .at = share.at},
           .change = share.forgotten ? store::Change::remove : store::Change::put});
  }
  for (const auto& [worker, row, forgotten] : trust.standing().evidence().take_changed_mismatches())
    batch.mismatches.push_back({.row = {.worker = worker,
                                        .client = row.client,
                                        .task = row.task,
                                        .at = row.at,
                                        .penalty = row.penalty},
                                .change = forgotten ? store::Change::remove : store::Change::put});
}

void Core::pardon(const Pardon& wanted, Moment now, Answer<StakeView> answer) {
  State& state = *state_;
  const auto reply = state.replier(std::move(answer));
  constexpr UnixMillis ahead_max = 10 * 60 * 1000;
  const PublicKey& worker = wanted.worker;
  if (!state.trust.book().suspended(worker, now.unix))
    return reply(fail(ErrorCode::not_found, "The worker {} is not suspended.", worker.text()));
  if (wanted.at > now.unix + ahead_max)
    return reply(fail(ErrorCode::invalid_argument,
                      "The pardon comes from a clock that is ahead by more than ten minutes."));
  // While a worker is suspended nothing but a conviction moves its record.
  if (wanted.at <= state.trust.book().record(worker).updated)
    return reply(fail(ErrorCode::already_exists,
                      "The worker {} was convicted after this pardon was signed.", worker.text()));
  (void)state.trust.convictions().pardon(worker, now.unix);
  state.parts.book.bar(worker, 0);
  std::erase_if(state.suspensions, [&](const auto& each) { return each.second == worker; });
  if (const auto found = state.workers.find(worker); found != state.workers.end())
    state.scheduler.set_slots(worker, found->second.hello.slots);
  state.store_standings(now);
  state.refresh(worker, now);
  log_info("The worker {} is pardoned.", worker.text());
  reply(state.stake_view(worker, now));
}

// Some wallet could work alone: only then are replicas of a new job left to be decided.
bool Core::State::a_worker_works_alone(Moment now) const {
  return std::ranges::any_of(
      staked, [&](const PublicKey& worker) { return trust.book().established(worker, now.unix); });
}

void Core::State::convict(const trust::Convicted& convicted, Moment now) {
  ++counters.convictions;
  const auto job = jobs.find(convicted.task.job);
  const OwnerId owner = owner_of(convicted.worker);
  const MicroCredits held = slashable_stake_of(owner);
  // A job that has ended has no client to be compensated any more; then all of it is the
  // platform's.
  const ledger::Slash slash{
      .task = convicted.task,
      .worker = convicted.worker,
      .owner = owner,
      .client = job == jobs.end() ? OwnerId{} : owner_of(job->second.row.client),
      .penalty = convicted.penalty,
      .damage = job == jobs.end() ? 0 : convicted.value,
      .stake = held};
  log_warning("{} is convicted over {}: {} {} micro-credits of its stake are slashed.",
              convicted.worker.text(), convicted.task.text(), convicted.reason,
              std::min(held, convicted.penalty));
  auto transaction = ledger::slash(slash);
  if (job == jobs.end()) transaction.job.reset();
  if (const auto moved = move_money(std::move(transaction), now); !moved)
    log_error("The stake cannot be slashed: {}", moved.error().message);
  const MicroCredits slashed = std::min(held, std::max<MicroCredits>(convicted.penalty, 0));
  begin_recheck(convicted.worker, slashed - std::min(slashed, slash.damage), now);
  forfeit_held_pay(convicted.worker, now);
  refresh(convicted.worker, now);  // Suspended; it is told by its verdict.
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
      verdict(jury.task, member.attempt, member.worker,
              pay_for_checking(jury.task, member.worker, member.pay, "jury", now), {});
    }
  }
}

MicroCredits Core::State::pay_for_checking(const TaskId& task, const PublicKey& worker,
                                           MicroCredits amount, std::string_view what, Moment now) {
  const MicroCredits paid = pay_from_platform(task, worker, amount, what, now);
  return paid + pay_from_verification(task, worker, amount - paid, now);
}

MicroCredits Core::State::pay_from_platform(const TaskId& task, const PublicKey& worker,
                                            MicroCredits amount, std::string_view what,
                                            Moment now) {
  const ledger::Funds platform = ledger.platform();
  const MicroCredits paid = std::min(amount, platform.total());
  if (paid <= 0) return 0;
  ledger::Transaction transaction{
      .key = weft::format("{}:{}:{}", what, task.text(), worker.text()),
      .job = {},
      .entries = {},
      .what = weft::format("pays a worker for checking task {}", task.index)};
  const ledger::Funds funds = ledger::granted_first(platform, paid);
  ledger::post_platform(transaction.entries, funds, ledger::Sign::take);
  ledger::post_owner(transaction.entries, owner_of(worker), funds, ledger::Sign::add);
  if (jobs.contains(task.job)) transaction.job = task.job;
  const auto moved = move_money(std::move(transaction), now);
  return moved && *moved == ledger::Applied::now ? paid : 0;
}

}  // namespace weft::jobs
