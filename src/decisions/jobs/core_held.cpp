// Newcomers' pay: held when a task is paid, freed later, lost with a conviction: then what was paid
// for wrong tasks goes back to their clients, and the rest to the verification account.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "common/base/format.h"
#include "common/base/log.h"
#include "decisions/jobs/core_state.h"

namespace weft::jobs {
namespace {

ledger::Funds operator-(const ledger::Funds& a, const ledger::Funds& b) {
  return {.free = a.free - b.free, .granted = a.granted - b.granted};
}

}  // namespace

bool Core::State::holds_pay_of(const PublicKey& worker) const {
  return settings.pay_held_for > std::chrono::milliseconds(0) &&
         settings.referee.defences.newcomers_decide_nothing &&
         (trust.level(worker, unix_now) == trust::Level::newcomer ||
          trust.standing().watched(worker));
}

std::string Core::State::why_no_task(const PublicKey& worker) const {
  const auto connected = workers.find(worker);
  if (connected == workers.end() || connected->second.prefix.empty() ||
      !scheduler.samples_are_late(at_now))
    return {};
  return weft::format(
      " New workers get no tasks now: a result could wait {:.0f} minutes for its check, and may "
      "wait {}.",
      std::ceil(scheduler.sample_wait(at_now) / 60),
      std::chrono::duration_cast<std::chrono::minutes>(settings.scheduler.sample_wait_max).count());
}

std::string Core::State::why_held(const PublicKey& worker) const {
  if (!holds_pay_of(worker)) return {};
  const auto minutes = std::chrono::ceil<std::chrono::minutes>(settings.pay_held_for).count();
  if (trust.level(worker, unix_now) != trust::Level::newcomer)
    return weft::format(
        "The pay is held for {} {}: a result of this worker was found wrong, and it is not known "
        "yet "
        "whether its device is the cause.",
        minutes, minutes == 1 ? "minute" : "minutes");
  return weft::format(
      "The pay is held for {} {}: this worker is new here, and loses what is held if a result of "
      "it turns out to be wrong.{}",
      minutes, minutes == 1 ? "minute" : "minutes", why_no_task(worker));
}

void Core::State::hold_pay(std::vector<HeldPays::Entry> of_task, const RunningJob& job,
                           std::uint32_t index, std::size_t agreeing, Moment now) {
  if (of_task.empty()) return;
  const Settled& accepted = *job.accepted[index];
  const auto paid = std::make_shared<const PaidTask>(
      PaidTask{.task = {.job = job.row.id, .index = index},
               .client = job.row.client,
               .manifest = job.manifest,
               .root = accepted.root,
               .outputs = accepted.outputs,
               .price = price_paid(job.row, *job.manifest, agreeing)});
  for (HeldPays::Entry& each : of_task) {
    batch.held_pays.push_back({.row = {.task = paid->task,
                                       .worker = each.worker,
                                       .owner = each.owner,
                                       .free = each.funds.free,
                                       .granted = each.funds.granted}});
    each.parts = {{.paid = paid, .funds = each.funds}};
    held_pays.add(each, now.at + settings.pay_held_for);
  }
}

void Core::State::move_held(ledger::Transaction transaction, std::string_view what,
                            const HeldPays::Entry& held, Moment now) {
  const PublicKey whose = held.worker == PublicKey{} ? PublicKey{{held.owner.bytes}} : held.worker;
  transaction.key = weft::format("{}:{}:{}", what, whose.text(), ++held_moves);
  const std::string key = transaction.key;
  if (const auto moved = move_money(std::move(transaction), now); !moved)
    log_error("{} cannot be posted: {}", key, moved.error().message);
}

void Core::State::forget_held_row(const TaskId& task, const PublicKey& worker) {
  batch.held_pays.push_back(
      {.row = {.task = task, .worker = worker, .owner = {}}, .change = store::Change::remove});
}

void Core::State::free_held_pay(Moment now) {
  for (const HeldPays::Entry& each : held_pays.take_free(now.at)) {
    auto transaction = ledger::release(
        {.task = {}, .worker = each.worker, .owner = each.owner, .funds = each.funds});
    transaction.what = weft::format("frees the pay of {:.6f} credits of a new worker",
                                    static_cast<double>(each.funds.total()) / 1e6);
    move_held(std::move(transaction), "release", each, now);
    for (const auto& part : each.parts) forget_held_row(part.paid->task, each.worker);
  }
}

// What was paid for known tasks stays held until the verifier has computed them again. What is held
// for unknown ones, and all of it if there is no verifier, goes to the verification account at
// once: a conviction enriches no party.
void Core::State::forfeit_held_pay(const PublicKey& worker, Moment now) {
  for (HeldPays::Entry& each : held_pays.take_of(worker, owner_of(worker))) {
    ledger::Funds rest = each.funds;
    for (const auto& part : each.parts) {
      const LostPay lost{.worker = each.worker, .owner = each.owner, .part = part};
      if (is_lost_to_client(lost, now)) {
        rest = rest - part.funds;
        continue;
      }
      if (!parts.world.verifies()) {
        forget_held_row(part.paid->task, each.worker);
        continue;
      }
      rest = rest - part.funds;
      batch.held_pays.push_back({.row = {.task = part.paid->task,
                                         .worker = each.worker,
                                         .owner = each.owner,
                                         .free = part.funds.free,
                                         .granted = part.funds.granted,
                                         .lost = true}});
      compute_again(lost);
    }
    if (rest.total() == 0) continue;
    rechecks.took(worker, rest.total());
    auto transaction = ledger::forfeit(
        {.task = {}, .worker = each.worker, .owner = each.owner, .funds = rest}, {});
    transaction.what = weft::format("takes the held pay of {:.6f} credits of a convicted worker",
                                    static_cast<double>(rest.total()) / 1e6);
    move_held(std::move(transaction), "forfeit", each, now);
  }
}

// The result is known to be wrong where it was replaced already.
bool Core::State::is_lost_to_client(const LostPay& lost, Moment now) {
  const auto found = corrections.find(lost.part.paid->task);
  if (found == corrections.end() || found->second.row.was != lost.part.paid->root) return false;
  store::Correction& row = found->second.row;
  row.refunded += settle_lost(lost, row.due - row.refunded, now);
  batch.corrections.push_back(row);
  owed.reset();
  return true;
}

void Core::State::compute_again(const LostPay& lost) {
  lost_pays[lost.part.paid->task].push_back(lost);
  order_recheck(lost.worker, lost.part.paid);
}

// Before the first refund all pay that is held for a task is less than what its client paid.
MicroCredits Core::State::owed_for(const PaidTask& paid) const {
  const auto found = corrections.find(paid.task);
  if (found == corrections.end()) return std::numeric_limits<MicroCredits>::max();
  return found->second.row.due - found->second.row.refunded;
}

MicroCredits Core::State::settle_lost(const LostPay& lost, MicroCredits owed, Moment now) {
  const PaidTask& paid = *lost.part.paid;
  const auto move = [&](const ledger::Funds& funds, const std::optional<OwnerId>& client) {
    auto transaction = ledger::forfeit(
        {.task = paid.task, .worker = lost.worker, .owner = lost.owner, .funds = funds}, client);
    if (client) transaction.key += ":client";
    if (jobs.contains(paid.task.job)) transaction.job = paid.task.job;
    const auto moved = move_money(std::move(transaction), now);
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
  if (returned.total() > 0 && move(returned, owner_of(paid.client))) refunded = returned.total();
  if (rest.total() > 0 && move(rest, std::nullopt)) rechecks.took(lost.worker, rest.total());
  forget_held_row(paid.task, lost.worker);
  return refunded;
}

// What is held of a wrong result waits for a conviction as long as its client is owed something.
Instant Core::State::free_after_correction(const store::Correction& row, Moment now) const {
  const auto owed_until = std::chrono::milliseconds(row.time - now.unix) + settings.refund_owed_for;
  return now.at + std::max<std::chrono::milliseconds>(owed_until, settings.pay_held_for);
}

// How long it was held before the restart is not stored: it starts again.
Result<> Core::State::restore_held_pay(const store::Loaded& loaded, Moment now) {
  held_moves = static_cast<std::uint64_t>(now.unix) * 1000;  // Later than any before the restart.
  struct HeldJob {
    store::Job row;
    PublicKey client;
    Book::Manifest manifest;
    [[nodiscard]] MicroCredits price_of(const store::Task& task) const {
      return price_paid(row, *manifest, task.agreeing.size());
    }
  };
  std::map<JobId, HeldJob> held_jobs;
  for (const store::Job& row : loaded.held_jobs) {
    auto parsed = manifest::parse(row.manifest);
    if (!parsed)
      return fail(ErrorCode::data_loss, "The stored manifest of job {} is not one: {}",
                  row.id.text(), parsed.error().message);
    held_jobs[row.id] = {
        .row = row,
        .client = row.client,
        .manifest = std::make_shared<const manifest::Manifest>(std::move(*parsed))};
  }
  std::map<TaskId, std::shared_ptr<const PaidTask>> tasks;
  for (const store::Task& row : loaded.held_tasks) {
    const auto job = held_jobs.find(row.id.job);
    if (job == held_jobs.end() || row.id.index >= job->second.manifest->split.tasks) continue;
    const auto wrong = corrections.find(row.id);  // Its row has the right result by now.
    tasks[row.id] = std::make_shared<const PaidTask>(
        PaidTask{.task = row.id,
                 .client = job->second.client,
                 .manifest = job->second.manifest,
                 .root = wrong == corrections.end() ? row.root : wrong->second.row.was,
                 .outputs = row.outputs,
                 .price = job->second.price_of(row)});
  }
  std::map<OwnerId, ledger::Funds> unknown;  // What is held for an owner without a task.
  for (const ledger::Entry& entry : loaded.balances) {
    using Kind = ledger::Account::Kind;
    if (entry.amount > 0 &&
        (entry.account.kind == Kind::held || entry.account.kind == Kind::held_granted))
      unknown[OwnerId{{entry.account.id}}] = ledger.held(OwnerId{{entry.account.id}});
  }
  const Instant free_at = now.at + settings.pay_held_for;
  for (const store::HeldPay& row : loaded.held_pays) {
    const auto paid = tasks.find(row.task);
    const ledger::Funds funds{.free = row.free, .granted = row.granted};
    ledger::Funds& rest = unknown[row.owner];
    rest = rest - funds;
    if (paid == tasks.end() || rest.free < 0 || rest.granted < 0)
      return fail(ErrorCode::data_loss,
                  "The pay that is held for task {} belongs to no accepted task, or is more than "
                  "its worker's account holds.",
                  row.task.text());
    const HeldPays::Part part{.paid = paid->second, .funds = funds};
    if (!row.lost) {
      const auto wrong = corrections.find(row.task);
      held_pays.add(
          {.worker = row.worker, .owner = row.owner, .funds = funds, .parts = {part}},
          wrong == corrections.end() ? free_at : free_after_correction(wrong->second.row, now));
      continue;
    }
    const LostPay lost{.worker = row.worker, .owner = row.owner, .part = part};
    if (is_lost_to_client(lost, now)) continue;
    if (parts.world.verifies())
      compute_again(lost);
    else
      settle_lost(lost, 0, now);
  }
  for (const auto& [owner, funds] : unknown) {
    if (funds.total() > 0)
      held_pays.add({.worker = {}, .owner = owner, .funds = funds, .parts = {}}, free_at);
  }
  return {};
}

}  // namespace weft::jobs
