#include "decisions/jobs/forfeits.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <memory>
#include <utility>

#include "common/base/format.h"
#include "common/base/log.h"
#include "decisions/jobs/recheck_orders.h"

namespace weft::jobs {

namespace {

ledger::Funds operator-(const ledger::Funds& a, const ledger::Funds& b) {
  return {.free = a.free - b.free, .granted = a.granted - b.granted};
}

}  // namespace

// Held pay for unknown tasks, and all held pay if there is no verifier, goes to the verification
// account at once.
void Forfeits::forfeit(const PublicKey& worker, Moment now) {
  for (HeldPays::Entry& each : paid_.held.take_of(worker, tables_.accounts.owner_of(worker))) {
    ledger::Funds rest = each.funds;
    for (const auto& part : each.parts) {
      const LostPay lost{.worker = each.worker, .owner = each.owner, .part = part};
      if (is_lost_to_client(lost, now)) {
        rest = rest - part.funds;
        continue;
      }
      if (!tables_.world.verifies()) {
        held_.forget_row(part.paid->task, each.worker);
        continue;
      }
      rest = rest - part.funds;
      tables_.outbox.batch().held_pays.push_back({.row = {.task = part.paid->task,
                                                          .worker = each.worker,
                                                          .owner = each.owner,
                                                          .free = part.funds.free,
                                                          .granted = part.funds.granted,
                                                          .lost = true}});
      compute_again(lost);
    }
    if (rest.total() == 0) continue;
    paid_.rechecks.took(worker, rest.total());
    auto transaction = ledger::forfeit(
        {.task = {}, .worker = each.worker, .owner = each.owner, .funds = rest}, {});
    transaction.what = weft::format("takes the held pay of {:.6f} credits of a convicted worker",
                                    static_cast<double>(rest.total()) / 1e6);
    held_.move(std::move(transaction), "forfeit", each, now);
  }
}

// True if the client is owed the pay, because the result was replaced already and is known to be
// wrong. A task is paid once and replaced once, because no worker is paid for the coordinator's own
// bytes.
bool Forfeits::is_lost_to_client(const LostPay& lost, Moment now) {
  OpenCorrection* const found = paid_.corrections.change(lost.part.paid->task);
  if (found == nullptr) return false;
  store::Correction& row = found->row;
  row.refunded += settle(lost, row.due - row.refunded, now);
  tables_.outbox.batch().corrections.push_back(row);
  return true;
}

void Forfeits::compute_again(const LostPay& lost) {
  paid_.lost.add(lost);
  order_recheck(tables_, paid_.rechecks, lost.worker, lost.part.paid);
}

MicroCredits Forfeits::computed(const PaidTask& paid, bool is_wrong, Moment now) {
  MicroCredits refunded = 0;
  for (const LostPay& lost : paid_.lost.take(paid.task)) {
    // A task without a correction has no limit: all pay that is held for it is less than its client
    // paid.
    constexpr MicroCredits all = std::numeric_limits<MicroCredits>::max();
    const MicroCredits owed =
        is_wrong ? paid_.corrections.owed_for(paid.task).value_or(all) - refunded : 0;
    refunded += settle(lost, owed, now);
  }
  return refunded;
}

MicroCredits Forfeits::settle(const LostPay& lost, MicroCredits owed, Moment now) {
  const PaidTask& paid = *lost.part.paid;
  const auto move = [&](const ledger::Funds& funds, const std::optional<OwnerId>& client) {
    auto transaction = ledger::forfeit(
        {.task = paid.task, .worker = lost.worker, .owner = lost.owner, .funds = funds}, client);
    if (client) transaction.key += ":client";
    if (tables_.jobs.contains(paid.task.job)) transaction.job = paid.task.job;
    const auto moved = tables_.accounts.move(std::move(transaction), now);
    if (!moved)
      log_error("The held pay for task {} cannot be taken: {}", paid.task.text(),
                moved.error().message);
    return moved.has_value();
  };
  const ledger::Funds& all = lost.part.funds;
  const ledger::Funds returned =
      ledger::granted_first(all, std::clamp<MicroCredits>(owed, 0, all.total()));
  const ledger::Funds rest = all - returned;
  MicroCredits refunded = 0;
  if (returned.total() > 0 && move(returned, tables_.accounts.owner_of(paid.client)))
    refunded = returned.total();
  if (rest.total() > 0 && move(rest, std::nullopt)) paid_.rechecks.took(lost.worker, rest.total());
  held_.forget_row(paid.task, lost.worker);
  return refunded;
}

// The tasks for which pay is held, in the state in which they were paid.
Result<Forfeits::PaidTasks> Forfeits::paid_tasks(const store::Loaded& loaded) const {
  struct HeldJob {
    store::Job row;
    Book::Manifest manifest;
  };
  std::map<JobId, HeldJob> held_jobs;
  for (const store::Job& row : loaded.held_jobs) {
    auto parsed = manifest::parse(row.manifest);
    if (!parsed)
      return fail(ErrorCode::data_loss, "The stored manifest of job {} cannot be read: {}",
                  row.id.text(), parsed.error().message);
    held_jobs[row.id] = {
        .row = row, .manifest = std::make_shared<const manifest::Manifest>(std::move(*parsed))};
  }
  PaidTasks tasks;
  for (const store::Task& row : loaded.held_tasks) {
    const auto job = held_jobs.find(row.id.job);
    if (job == held_jobs.end() || row.id.index >= job->second.manifest->split.tasks) continue;
    // The row of a corrected task holds the right result by now.
    const OpenCorrection* const wrong = paid_.corrections.find(row.id);
    tasks[row.id] = std::make_shared<const PaidTask>(
        PaidTask{.task = row.id,
                 .client = job->second.row.client,
                 .manifest = job->second.manifest,
                 .root = wrong == nullptr ? row.root : wrong->row.was,
                 .outputs = row.outputs,
                 .price = price_paid(job->second.row, *job->second.manifest, row.agreeing.size())});
  }
  return tasks;
}

Result<> Forfeits::restore(const store::Loaded& loaded, Moment now) {
  held_.restore(now);
  const auto tasks = paid_tasks(loaded);
  if (!tasks) return std::unexpected(tasks.error());
  std::map<OwnerId, ledger::Funds> unknown;  // Held pay by owner, of which no task is known.
  for (const ledger::Entry& entry : loaded.balances) {
    using Kind = ledger::Account::Kind;
    if (entry.amount > 0 &&
        (entry.account.kind == Kind::held || entry.account.kind == Kind::held_granted))
      unknown[OwnerId{{entry.account.id}}] =
          tables_.accounts.ledger().held(OwnerId{{entry.account.id}});
  }
  const Instant free_at = now.at + tables_.settings.pay_held_for;
  for (const store::HeldPay& row : loaded.held_pays) {
    const auto paid = tasks->find(row.task);
    const ledger::Funds funds{.free = row.free, .granted = row.granted};
    ledger::Funds& rest = unknown[row.owner];
    rest = rest - funds;
    if (paid == tasks->end() || rest.free < 0 || rest.granted < 0)
      return fail(ErrorCode::data_loss,
                  "The pay that is held for task {} belongs to no accepted task, or is more than "
                  "its worker's account holds.",
                  row.task.text());
    const HeldPays::Part part{.paid = paid->second, .funds = funds};
    if (!row.lost) {
      const OpenCorrection* const wrong = paid_.corrections.find(row.task);
      paid_.held.add({.worker = row.worker, .owner = row.owner, .funds = funds, .parts = {part}},
                     wrong == nullptr ? free_at : held_.free_after_correction(wrong->row, now));
      continue;
    }
    const LostPay lost{.worker = row.worker, .owner = row.owner, .part = part};
    if (is_lost_to_client(lost, now)) continue;
    if (tables_.world.verifies())
      compute_again(lost);
    else
      settle(lost, 0, now);
  }
  for (const auto& [owner, funds] : unknown) {
    if (funds.total() > 0)
      paid_.held.add({.worker = {}, .owner = owner, .funds = funds, .parts = {}}, free_at);
  }
  return {};
}

}  // namespace weft::jobs
