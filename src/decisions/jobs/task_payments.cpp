#include "decisions/jobs/task_payments.h"

#include <algorithm>
#include <utility>

#include "common/base/log.h"

namespace weft::jobs {

Result<> TaskPayments::open_escrow(const JobId& job, const PublicKey& client, MicroCredits budget,
                                   Moment now) {
  const OwnerId owner = tables_.accounts.owner_of(client);
  const auto holds = [&] { return tables_.accounts.ledger().spendable(owner).total(); };
  // A stranger whose job costs more than it could ever be granted leaves no trace.
  if (holds() + grants_.of_stranger(owner) < budget)
    return std::unexpected(grants_.cannot_spend(owner, budget));
  WEFT_OK(grants_.fund(owner, now));
  if (holds() < budget) return std::unexpected(grants_.cannot_spend(owner, budget));
  if (auto opened = tables_.accounts.move(
          ledger::open_escrow(job, owner, budget, tables_.accounts.ledger().spendable(owner)), now);
      !opened)
    return pass(std::move(opened));
  return {};
}

void TaskPayments::set_price(RunningJob& job, const scheduler::Estimate& estimate) {
  if (job.row.price == estimate.price && job.row.units == estimate.units) return;
  job.row.price = estimate.price;
  job.row.units = estimate.units;
  job.row.reference_seconds_per_workgroup = estimate.reference_seconds_per_workgroup;
  tables_.outbox.batch().job_updates.push_back(
      {.id = job.row.id,
       .price = store::JobUpdate::Price{.price = estimate.price,
                                        .units = estimate.units,
                                        .reference_seconds_per_workgroup =
                                            estimate.reference_seconds_per_workgroup},
       .end = {}});
}

TaskPayments::Paid TaskPayments::pay(RunningJob& job, std::uint32_t index,
                                     std::span<const PublicKey> agreeing, Moment now) {
  // A job may consist of its canary alone, which may be accepted before decide() has reported the
  // estimate.
  const auto progress = tables_.scheduler.views().progress(job.row.id);
  if (progress && progress->estimate) set_price(job, *progress->estimate);
  const auto estimate =
      progress && progress->estimate
          ? *progress->estimate
          : scheduler::Estimate{
                .reference_seconds_per_workgroup = 0, .units = 0, .price = job.row.price};
  // A job whose price is over its budget ends at once. The work of its canary is paid up to the
  // amount in the escrow.
  const ledger::Funds escrow = tables_.accounts.ledger().escrow(job.row.id);
  const ledger::TaskPay pay{
      .task = {.job = job.row.id, .index = index},
      .client = tables_.accounts.owner_of(job.row.client),
      .price = std::min(scheduler::task_price(estimate, job.row.tasks), escrow.total()),
      .replicas = job.manifest->verify.replicas,
      .verification_permille = tables_.settings.verification_permille};
  const auto for_audit = audit_pay(job, index, pay);
  MicroCredits returned =
      pay.price - pay.price / pay.replicas * static_cast<MicroCredits>(agreeing.size());
  Paid paid{.each = ledger::share(pay), .auditors = {}};
  std::vector<OwnerId> workers;
  for (const PublicKey& worker : agreeing) workers.push_back(tables_.accounts.owner_of(worker));
  auto payees = ledger::equal_shares(pay, workers);
  if (tables_.settings.stake_permille > 0) {
    for (auto& payee : payees) payee.staked = part_for_stake(payee.owner, paid.each);
  }
  for (std::size_t i = 0; i < agreeing.size(); ++i) {
    if (!holding_.holds_pay_of(agreeing[i])) continue;
    payees[i].as = ledger::PayAs::held;
    payees[i].staked = 0;
  }
  // Auditors are paid from the amount that goes back to the client for replicas that were not
  // needed.
  for (const auto& [auditor, amount] : for_audit) {
    const MicroCredits part = std::min(amount, returned);
    paid.auditors[auditor] = part;
    if (part <= 0) continue;
    returned -= part;
    payees.push_back({.owner = tables_.accounts.owner_of(auditor), .amount = part});
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
  const auto moved = tables_.accounts.move(std::move(transaction), now);
  if (moved && *moved == ledger::Applied::now)
    holding_.hold(std::move(held), job, index, agreeing.size(), now);
  if (!moved) {
    log_error("Task {} cannot be paid: {}", pay.task.text(), moved.error().message);
    return {};
  }
  for (const auto& [auditor, amount] : for_audit) {
    MicroCredits& has = paid.auditors[auditor];
    if (amount > has) has += checkers_.from_verification(pay.task, auditor, amount - has, now);
  }
  return paid;
}

std::map<PublicKey, MicroCredits> TaskPayments::audit_pay(const RunningJob& job,
                                                          std::uint32_t index,
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

MicroCredits TaskPayments::part_for_stake(const OwnerId& owner, MicroCredits each) const {
  const MicroCredits missing =
      tables_.settings.stake_target - tables_.accounts.slashable_stake(owner);
  return std::max<MicroCredits>(
      std::min(missing, each / 1000 * tables_.settings.stake_permille +
                            each % 1000 * tables_.settings.stake_permille / 1000),
      0);
}

// Results of open tasks that workers have signed for. No later check can tell whether they are
// right: a newcomer's pay is held as that for any other task, and if it is convicted meanwhile,
// goes to the verification account.
void TaskPayments::pay_what_ran(const RunningJob& job, Moment now) {
  const auto progress = tables_.scheduler.views().progress(job.row.id);
  if (!progress || !progress->estimate) return;
  const std::uint32_t replicas = job.manifest->verify.replicas;
  for (const auto& [index, of_task] : job.delivered) {
    if (job.accepted[index]) continue;
    std::vector<PublicKey> workers;
    std::vector<OwnerId> owners;
    for (const auto& [worker, delivered] : of_task) {
      if (!delivered.counted || workers.size() >= replicas) continue;
      workers.push_back(worker);
      owners.push_back(tables_.accounts.owner_of(worker));
    }
    const ledger::Funds escrow = tables_.accounts.ledger().escrow(job.row.id);
    const ledger::TaskPay pay{
        .task = {.job = job.row.id, .index = index},
        .client = tables_.accounts.owner_of(job.row.client),
        .price =
            std::min(scheduler::task_price(*progress->estimate, job.row.tasks), escrow.total()),
        .replicas = replicas,
        .verification_permille = tables_.settings.verification_permille};
    if (workers.empty() || pay.price <= 0) continue;
    auto payees = ledger::equal_shares(pay, owners);
    for (std::size_t i = 0; i < workers.size(); ++i) {
      if (holding_.holds_pay_of(workers[i])) payees[i].as = ledger::PayAs::held;
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
    const auto moved = tables_.accounts.move(std::move(transaction), now);
    if (!moved)
      log_error("What ran of task {} cannot be paid: {}", pay.task.text(), moved.error().message);
    if (!moved || *moved != ledger::Applied::now) continue;
    for (const HeldPays::Entry& each : held) holding_.hold_unknown(each, now);
  }
}

void TaskPayments::close_escrow(const RunningJob& job, Moment now) {
  const ledger::Funds remaining = tables_.accounts.ledger().escrow(job.row.id);
  if (remaining.total() > 0) {
    if (auto moved = tables_.accounts.move(
            ledger::close_escrow(job.row.id, tables_.accounts.owner_of(job.row.client), remaining),
            now);
        !moved) {
      log_error("The escrow of job {} cannot be closed: {}", job.row.id.text(),
                moved.error().message);
    }
  }
  tables_.accounts.close_escrow(job.row.id);
}

}  // namespace weft::jobs
