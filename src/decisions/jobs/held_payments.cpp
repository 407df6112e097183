#include "decisions/jobs/held_payments.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <utility>

#include "common/base/format.h"
#include "common/base/log.h"

namespace weft::jobs {

bool HeldPayments::holds_pay_of(const PublicKey& worker) const {
  return tables_.settings.pay_held_for > std::chrono::milliseconds(0) &&
         tables_.settings.referee.defences.newcomers_decide_nothing &&
         (tables_.trust.level(worker, tables_.latest.unix) == trust::Level::newcomer ||
          tables_.trust.standing().watched(worker));
}

std::string HeldPayments::why_no_task(const PublicKey& worker) const {
  const auto connected = tables_.workers.all().find(worker);
  if (connected == tables_.workers.all().end() || connected->second.prefix.empty() ||
      !tables_.scheduler.views().samples_are_late(tables_.latest.at))
    return {};
  return weft::format(
      " New workers get no tasks now: a result could wait {:.0f} minutes for its check, and may "
      "wait {}.",
      std::ceil(tables_.scheduler.views().sample_wait(tables_.latest.at) / 60),
      std::chrono::duration_cast<std::chrono::minutes>(tables_.settings.scheduler.sample_wait_max)
          .count());
}

std::string HeldPayments::why_held(const PublicKey& worker) const {
  if (!holds_pay_of(worker)) return {};
  const auto minutes =
      std::chrono::ceil<std::chrono::minutes>(tables_.settings.pay_held_for).count();
  if (tables_.trust.level(worker, tables_.latest.unix) != trust::Level::newcomer)
    return weft::format(
        "The pay is held for {} {}: a result of this worker was found wrong, and it is not known "
        "yet whether its device is the cause.",
        minutes, minutes == 1 ? "minute" : "minutes");
  return weft::format(
      "The pay is held for {} {}: this worker is new here, and loses what is held if a result of "
      "it turns out to be wrong.{}",
      minutes, minutes == 1 ? "minute" : "minutes", why_no_task(worker));
}

void HeldPayments::hold(std::vector<HeldPays::Entry> of_task, const RunningJob& job,
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
    tables_.outbox.batch().held_pays.push_back({.row = {.task = paid->task,
                                                        .worker = each.worker,
                                                        .owner = each.owner,
                                                        .free = each.funds.free,
                                                        .granted = each.funds.granted}});
    each.parts = {{.paid = paid, .funds = each.funds}};
    paid_.held.add(each, now.at + tables_.settings.pay_held_for);
  }
}

void HeldPayments::move(ledger::Transaction transaction, std::string_view what,
                        const HeldPays::Entry& held, Moment now) {
  const PublicKey whose = held.worker == PublicKey{} ? PublicKey{{held.owner.bytes}} : held.worker;
  transaction.key = weft::format("{}:{}:{}", what, whose.text(), ++moves_);
  const std::string key = transaction.key;
  if (const auto moved = tables_.accounts.move(std::move(transaction), now); !moved)
    log_error("{} cannot be posted: {}", key, moved.error().message);
}

void HeldPayments::forget_row(const TaskId& task, const PublicKey& worker) {
  tables_.outbox.batch().held_pays.push_back(
      {.row = {.task = task, .worker = worker, .owner = {}}, .change = store::Change::remove});
}

void HeldPayments::free(Moment now) {
  for (const HeldPays::Entry& each : paid_.held.take_free(now.at)) {
    auto transaction = ledger::release(
        {.task = {}, .worker = each.worker, .owner = each.owner, .funds = each.funds});
    transaction.what = weft::format("frees the pay of {:.6f} credits of a new worker",
                                    static_cast<double>(each.funds.total()) / 1e6);
    move(std::move(transaction), "release", each, now);
    for (const auto& part : each.parts) forget_row(part.paid->task, each.worker);
  }
}

// Held pay for a wrong result waits for a conviction while its client is owed a refund.
Instant HeldPayments::free_after_correction(const store::Correction& row, Moment now) const {
  const auto owed_until =
      std::chrono::milliseconds(row.time - now.unix) + tables_.settings.refund_owed_for;
  return now.at + std::max<std::chrono::milliseconds>(owed_until, tables_.settings.pay_held_for);
}

void HeldPayments::hold_unknown(const HeldPays::Entry& entry, Moment now) {
  paid_.held.add(entry, now.at + tables_.settings.pay_held_for);
}

}  // namespace weft::jobs
