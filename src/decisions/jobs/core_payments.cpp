// Money: escrow, pay and refunds. Every movement goes into the same batch as what caused
// it.
#include <algorithm>

#include "common/base/log.h"
#include "decisions/jobs/core_state.h"

namespace weft::jobs {

Result<ledger::Applied> Core::State::move_money(ledger::Transaction transaction, Moment now) {
  auto applied = ledger.apply(transaction);
  if (!applied || *applied == ledger::Applied::before) return applied;
  for (const auto& entry : transaction.entries) {
    using Kind = ledger::Account::Kind;
    const Kind kind = entry.account.kind;
    if (kind == Kind::owner || kind == Kind::granted || kind == Kind::stake)
      note_balances(OwnerId{{entry.account.id}});
  }
  batch.transactions.push_back({.transaction = std::move(transaction), .time = now.unix});
  return applied;
}

void Core::State::note_balances(const OwnerId& owner) {
  const bool can_spend = ledger.spendable(owner).total() > 0;
  if (can_spend != funded.contains(owner)) {
    can_spend ? (void)funded.insert(owner) : (void)funded.erase(owner);
    for (const auto& device : owners.devices(owner)) parts.book.set_funded(device.key, can_spend);
  }
  const bool has_stake = slashable_stake_of(owner) > 0;
  if (has_stake == staked.contains(PublicKey{{owner.bytes}})) return;
  for (const auto& device : owners.devices(owner))
    has_stake ? (void)staked.insert(device.key) : (void)staked.erase(device.key);
}

Result<> Core::State::open_escrow(const JobId& job, const PublicKey& client, MicroCredits budget,
                                  Moment now) {
  const OwnerId owner = owner_of(client);
  const auto holds = [&] { return ledger.spendable(owner).total(); };
  // A stranger whose job is over what it could ever be granted leaves no trace.
  if (holds() + grant_of_stranger(owner) < budget)
    return std::unexpected(cannot_spend(owner, budget));
  WEFT_OK(fund(owner, now));
  if (holds() < budget) return std::unexpected(cannot_spend(owner, budget));
  if (auto opened =
          move_money(ledger::open_escrow(job, owner, budget, ledger.spendable(owner)), now);
      !opened)
    return pass(std::move(opened));
  return {};
}

void Core::State::set_price(RunningJob& job, const scheduler::Estimate& estimate) {
  if (job.row.price == estimate.price && job.row.units == estimate.units) return;
  job.row.price = estimate.price;
  job.row.units = estimate.units;
  job.row.reference_seconds_per_workgroup = estimate.reference_seconds_per_workgroup;
  batch.job_updates.push_back(
      {.id = job.row.id,
       .price = store::JobUpdate::Price{.price = estimate.price,
                                        .units = estimate.units,
                                        .reference_seconds_per_workgroup =
                                            estimate.reference_seconds_per_workgroup},
       .end = {}});
}

Core::State::Paid Core::State::pay(RunningJob& job, std::uint32_t index,
                                   std::span<const PublicKey> agreeing, Moment now) {
  // The canary may be accepted before its estimate has come out of decide(), and be all of its job.
  const auto progress = scheduler.progress(job.row.id);
  if (progress && progress->estimate) set_price(job, *progress->estimate);
  const auto estimate =
      progress && progress->estimate
          ? *progress->estimate
          : scheduler::Estimate{
                .reference_seconds_per_workgroup = 0, .units = 0, .price = job.row.price};
  // A job whose price is over its budget ends at once; what its canary did is paid as far as the
  // escrow reaches.
  const ledger::Funds escrow = ledger.escrow(job.row.id);
  const ledger::TaskPay pay{
      .task = {.job = job.row.id, .index = index},
      .client = owner_of(job.row.client),
      .price = std::min(scheduler::task_price(estimate, job.row.tasks), escrow.total()),
      .replicas = job.manifest->verify.replicas,
      .verification_permille = settings.verification_permille};
  const auto for_audit = audit_pay(job, index, pay);
  MicroCredits returned =
      pay.price - pay.price / pay.replicas * static_cast<MicroCredits>(agreeing.size());
  Paid paid{.each = ledger::share(pay), .auditors = {}};
  std::vector<OwnerId> workers;
  for (const PublicKey& worker : agreeing) workers.push_back(owner_of(worker));
  auto payees = ledger::equal_shares(pay, workers);
  if (settings.stake_permille > 0) {
    for (auto& payee : payees) payee.staked = part_for_stake(payee.owner, paid.each);
  }
  for (std::size_t i = 0; i < agreeing.size(); ++i) {
    if (!holds_pay_of(agreeing[i])) continue;
    payees[i].as = ledger::PayAs::held;
    payees[i].staked = 0;
  }
  // Out of what goes back to the client for the replicas that were not needed.
  for (const auto& [auditor, amount] : for_audit) {
    const MicroCredits part = std::min(amount, returned);
    paid.auditors[auditor] = part;
    if (part <= 0) continue;
    returned -= part;
    payees.push_back({.owner = owner_of(auditor), .amount = part});
  }
  auto transaction = ledger::pay_task(pay, payees, agreeing.size(), escrow);
  if (payees.size() > agreeing.size()) transaction.what += ", and who audited it";
  std::vector<HeldPays::Entry> held;
  for (std::size_t i = 0; i < agreeing.size(); ++i) {
    if (payees[i].as != ledger::PayAs::held ||
        std::ranges::contains(held, payees[i].owner, &HeldPays::Entry::owner))
      continue;
    held.push_back({.worker = agreeing[i],
                    .owner = payees[i].owner,
                    .funds = ledger::held_by(transaction, payees[i].owner),
                    .parts = {}});
  }
  const auto moved = move_money(std::move(transaction), now);
  if (moved && *moved == ledger::Applied::now)
    hold_pay(std::move(held), job, index, agreeing.size(), now);
  if (!moved) {
    log_error("Task {} cannot be paid: {}", pay.task.text(), moved.error().message);
    return {};
  }
  for (const auto& [auditor, amount] : for_audit) {
    MicroCredits& has = paid.auditors[auditor];
    if (amount > has) has += pay_from_verification(pay.task, auditor, amount - has, now);
  }
  return paid;
}

std::map<PublicKey, MicroCredits> Core::State::audit_pay(const RunningJob& job, std::uint32_t index,
                                                         const ledger::TaskPay& pay) {
  std::map<PublicKey, MicroCredits> out;
  const auto found = job.auditors.find(index);
  if (found == job.auditors.end()) return out;
  const MicroCredits each = pay.price / pay.replicas;
  for (const auto& auditor : found->second) {
    if (!auditor.accuser)
      out[auditor.worker] = static_cast<MicroCredits>(static_cast<double>(each) * auditor.share);
  }
  return out;
}

MicroCredits Core::State::pay_from_verification(const TaskId& task, const PublicKey& worker,
                                                MicroCredits amount, Moment now) {
  const ledger::Funds has = ledger.verification();
  const MicroCredits paid = std::min(amount, has.total());
  if (paid <= 0) return 0;
  auto transaction = ledger::pay_verifier(task, worker, owner_of(worker), paid, has);
  if (jobs.contains(task.job)) transaction.job = task.job;
  const auto moved = move_money(std::move(transaction), now);
  return moved && *moved == ledger::Applied::now ? paid : 0;
}

MicroCredits Core::State::part_for_stake(const OwnerId& owner, MicroCredits each) const {
  const MicroCredits missing = settings.stake_target - slashable_stake_of(owner);
  return std::max<MicroCredits>(std::min(missing, each / 1000 * settings.stake_permille +
                                                      each % 1000 * settings.stake_permille / 1000),
                                0);
}

void Core::State::close_escrow(const RunningJob& job, Moment now) {
  const ledger::Funds remaining = ledger.escrow(job.row.id);
  if (remaining.total() > 0) {
    if (auto moved =
            move_money(ledger::close_escrow(job.row.id, owner_of(job.row.client), remaining), now);
        !moved) {
      log_error("The escrow of job {} cannot be closed: {}", job.row.id.text(),
                moved.error().message);
    }
  }
  ledger.close(job.row.id);
}

}  // namespace weft::jobs
