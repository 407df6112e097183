#include "service/ledger/transaction.h"

#include <algorithm>
#include <format>

#include "common/base/check.h"

namespace weft::ledger {
namespace {

std::string credits(MicroCredits amount) { return std::format("{}.{:06}", amount / 1'000'000, amount % 1'000'000); }

}  // namespace

Transaction grant(const PublicKey& client, MicroCredits amount) {
  return {.key = "grant:" + client.text(),
          .job = {},
          .entries = {{Account::mint(), -amount}, {Account::client(client), amount}},
          .what = std::format("grants {} credits to a new client", credits(amount))};
}

Transaction open_escrow(const JobId& job, const PublicKey& client, MicroCredits budget) {
  return {.key = "open:" + job.text(),
          .job = job,
          .entries = {{Account::client(client), -budget}, {Account::escrow(job), budget}},
          .what = std::format("sets the budget of {} credits aside", credits(budget))};
}

MicroCredits share(const TaskPay& pay) {
  check(pay.replicas > 0, "a task has at least one replica");
  return pay.price / pay.replicas;
}

Transaction pay_task(const TaskPay& pay, std::span<const PublicKey> agreeing) {
  check(agreeing.size() <= pay.replicas, "no more workers are paid than there are replicas");
  const MicroCredits each = share(pay);
  const MicroCredits rest = pay.price - each * static_cast<MicroCredits>(agreeing.size());
  Transaction transaction{.key = "pay:" + pay.task.text(),
                          .job = pay.task.job,
                          .entries = {{Account::escrow(pay.task.job), -pay.price}},
                          .what = std::format("pays {} credits for task {} to each of {} workers", credits(each), pay.task.index, agreeing.size())};
  for (const PublicKey& worker : agreeing) transaction.entries.push_back({Account::worker(worker), each});
  if (rest != 0) transaction.entries.push_back({Account::client(pay.client), rest});
  return transaction;
}

Transaction refund(const JobId& job, const PublicKey& client, MicroCredits amount, std::string_view key_suffix) {
  return {.key = std::format("refund:{}:{}", job.text(), key_suffix),
          .job = job,
          .entries = {{Account::escrow(job), -amount}, {Account::client(client), amount}},
          .what = std::format("returns {} credits of the budget", credits(amount))};
}

Transaction close_escrow(const JobId& job, const PublicKey& client, MicroCredits remaining) {
  return {.key = "close:" + job.text(),
          .job = job,
          .entries = {{Account::escrow(job), -remaining}, {Account::client(client), remaining}},
          .what = std::format("returns {} credits at the end of the job", credits(remaining))};
}

}  // namespace weft::ledger
