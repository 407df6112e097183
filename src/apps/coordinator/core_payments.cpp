// Money: grants, escrow, pay and refunds. Every movement goes into the same batch as what caused it.
#include <algorithm>

#include "apps/coordinator/core_state.h"
#include "common/base/log.h"

namespace weft::coordinator {

Result<ledger::Applied> Core::State::move_money(ledger::Transaction transaction, Moment now) {
  auto applied = ledger.apply(transaction);
  if (!applied || *applied == ledger::Applied::before) return applied;
  for (const auto& entry : transaction.entries) {
    if (entry.account.kind == ledger::Account::Kind::client) parts.book.set_funded(PublicKey{{entry.account.id}}, ledger.balance(entry.account) > 0);
    if (entry.account.kind == ledger::Account::Kind::stake) {
      const PublicKey worker{{entry.account.id}};
      ledger.balance(entry.account) > 0 ? (void)staked.insert(worker) : (void)staked.erase(worker);
    }
  }
  batch.transactions.push_back({.transaction = std::move(transaction), .time = now.unix});
  return applied;
}

Result<> Core::State::open_escrow(const JobId& job, const PublicKey& client, MicroCredits budget, Moment now) {
  const auto account = ledger::Account::client(client);
  // Both in credits, as people write them.
  const auto refused = [&] {
    return fail(ErrorCode::insufficient_funds, "The client's account holds {:.6f} credits; the job's budget is {:.6f}.",
                static_cast<double>(ledger.balance(account)) / 1e6, static_cast<double>(budget) / 1e6);
  };
  // A stranger whose job is over what it could ever be granted leaves no trace.
  if (ledger.balance(account) + settings.grant < budget) return refused();
  if (settings.grant > 0 && !granted.contains(client)) {
    if (auto moved = move_money(ledger::grant(client, settings.grant), now); !moved) return pass(std::move(moved));
    granted.insert(client);
  }
  if (ledger.balance(account) < budget) return refused();
  if (auto opened = move_money(ledger::open_escrow(job, client, budget), now); !opened) return pass(std::move(opened));
  return {};
}

void Core::State::set_price(RunningJob& job, const scheduler::Estimate& estimate) {
  if (job.row.price == estimate.price && job.row.units == estimate.units) return;
  job.row.price = estimate.price;
  job.row.units = estimate.units;
  job.row.reference_seconds_per_workgroup = estimate.reference_seconds_per_workgroup;
  batch.job_updates.push_back({.id = job.row.id,
                               .price = store::JobUpdate::Price{.price = estimate.price,
                                                                .units = estimate.units,
                                                                .reference_seconds_per_workgroup = estimate.reference_seconds_per_workgroup},
                               .end = {}});
}

Core::State::Paid Core::State::pay(RunningJob& job, std::uint32_t index, std::span<const PublicKey> agreeing, Moment now) {
  // The canary may be accepted before its estimate has come out of decide(), and be all of its job.
  const auto progress = scheduler.progress(job.row.id);
  if (progress && progress->estimate) set_price(job, *progress->estimate);
  const auto estimate = progress && progress->estimate
                            ? *progress->estimate
                            : scheduler::Estimate{.reference_seconds_per_workgroup = 0, .units = 0, .price = job.row.price};
  // A job whose price is over its budget ends at once; what its canary did is paid as far as the escrow reaches.
  const MicroCredits held = ledger.balance(ledger::Account::escrow(job.row.id));
  const ledger::TaskPay pay{.task = {.job = job.row.id, .index = index},
                            .client = job.row.client,
                            .price = std::min(scheduler::task_price(estimate, job.row.tasks), held),
                            .replicas = job.manifest->verify.replicas};
  const Paid paid{.each = ledger::share(pay), .auditor = audit_pay(job, index, pay, agreeing.size())};
  auto transaction = ledger::pay_task(pay, agreeing);
  if (paid.auditor > 0) {
    // Out of what goes back to the client for the replicas that were not needed.
    const auto rest = std::ranges::find(transaction.entries, ledger::Account::client(job.row.client), &ledger::Entry::account);
    rest->amount -= paid.auditor;
    transaction.entries.push_back({ledger::Account::worker(job.auditors.at(index).worker), paid.auditor});
    transaction.what += ", and who audited it";
  }
  if (settings.stake_permille > 0) put_into_stakes(transaction, agreeing, paid.each);
  const auto moved = move_money(std::move(transaction), now);
  if (!moved) {
    log_error("Task {} cannot be paid: {}", pay.task.text(), moved.error().message);
    return {};
  }
  return paid;
}

MicroCredits Core::State::audit_pay(const RunningJob& job, std::uint32_t index, const ledger::TaskPay& pay, std::size_t agreeing) const {
  const auto auditor = job.auditors.find(index);
  if (auditor == job.auditors.end() || auditor->second.accuser) return 0;
  const MicroCredits each = pay.price / pay.replicas;
  const MicroCredits rest = pay.price - each * static_cast<MicroCredits>(agreeing);
  return std::min(rest, static_cast<MicroCredits>(static_cast<double>(each) * auditor->second.share));
}

void Core::State::put_into_stakes(ledger::Transaction& transaction, std::span<const PublicKey> paid, MicroCredits each) const {
  for (const PublicKey& worker : paid) {
    const MicroCredits missing = settings.stake_target - ledger.balance(ledger::Account::stake(worker));
    const MicroCredits part = std::min(missing, each / 1000 * settings.stake_permille + each % 1000 * settings.stake_permille / 1000);
    if (part <= 0) continue;
    transaction.entries.push_back({ledger::Account::worker(worker), -part});
    transaction.entries.push_back({ledger::Account::stake(worker), part});
  }
}

void Core::State::close_escrow(const RunningJob& job, Moment now) {
  const MicroCredits remaining = ledger.balance(ledger::Account::escrow(job.row.id));
  if (remaining > 0) {
    if (auto moved = move_money(ledger::close_escrow(job.row.id, job.row.client, remaining), now); !moved) {
      log_error("The escrow of job {} cannot be closed: {}", job.row.id.text(), moved.error().message);
    }
  }
  ledger.close(job.row.id);
}

}  // namespace weft::coordinator
