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

MicroCredits Core::State::pay(RunningJob& job, std::uint32_t index, std::span<const PublicKey> agreeing, Moment now) {
  // The canary may be accepted before its estimate has come out of decide().
  const auto progress = scheduler.progress(job.row.id);
  const auto estimate = progress && progress->estimate
                            ? *progress->estimate
                            : scheduler::Estimate{.reference_seconds_per_workgroup = 0, .units = 0, .price = job.row.price};
  // A job whose price is over its budget ends at once; what its canary did is paid as far as the escrow reaches.
  const MicroCredits held = ledger.balance(ledger::Account::escrow(job.row.id));
  const ledger::TaskPay pay{.task = {.job = job.row.id, .index = index},
                            .client = job.row.client,
                            .price = std::min(scheduler::task_price(estimate, job.row.tasks), held),
                            .replicas = job.manifest->verify.replicas};
  const auto moved = move_money(ledger::pay_task(pay, agreeing), now);
  if (!moved) {
    log_error("Task {} cannot be paid: {}", pay.task.text(), moved.error().message);
    return 0;
  }
  return ledger::share(pay);
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
