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
  check(pay.fee_permille < 1000, "a fee is less than the whole");
  const MicroCredits whole = pay.price / pay.replicas;
  return whole - whole / 1000 * pay.fee_permille - whole % 1000 * pay.fee_permille / 1000;
}

Transaction pay_task(const TaskPay& pay, std::span<const PublicKey> agreeing) {
  check(agreeing.size() <= pay.replicas, "no more workers are paid than there are replicas");
  const MicroCredits each = share(pay);
  const auto count = static_cast<MicroCredits>(agreeing.size());
  const MicroCredits fee = (pay.price / pay.replicas - each) * count;
  const MicroCredits rest = pay.price - each * count - fee;
  Transaction transaction{.key = "pay:" + pay.task.text(),
                          .job = pay.task.job,
                          .entries = {{Account::escrow(pay.task.job), -pay.price}},
                          .what = agreeing.size() == 1 ? std::format("pays {} credits for task {}", credits(each), pay.task.index)
                                                       : std::format("pays {} credits for task {} to each of {} workers", credits(each),
                                                                     pay.task.index, agreeing.size())};
  for (const PublicKey& worker : agreeing) transaction.entries.push_back({Account::worker(worker), each});
  if (fee != 0) transaction.entries.push_back({Account::platform(), fee});
  if (rest != 0) transaction.entries.push_back({Account::client(pay.client), rest});
  return transaction;
}

Transaction deposit_stake(const Account& from, const PublicKey& key, MicroCredits amount, std::uint64_t number) {
  return {.key = std::format("stake:{}:{}", key.text(), number),
          .job = {},
          .entries = {{from, -amount}, {Account::stake(key), amount}},
          .what = std::format("stakes {} credits", credits(amount))};
}

Transaction withdraw_stake(const PublicKey& key, const Account& to, MicroCredits amount, std::uint64_t number) {
  return {.key = std::format("unstake:{}:{}", key.text(), number),
          .job = {},
          .entries = {{Account::stake(key), -amount}, {to, amount}},
          .what = std::format("takes {} credits of the stake back", credits(amount))};
}

Transaction slash(const Slash& slash) {
  const MicroCredits taken = std::clamp<MicroCredits>(slash.penalty, 0, std::max<MicroCredits>(slash.stake, 0));
  const MicroCredits to_client = std::clamp<MicroCredits>(slash.damage, 0, taken);
  Transaction transaction{.key = std::format("slash:{}:{}", slash.task.text(), slash.worker.text()),
                          .job = slash.task.job,
                          .entries = {},
                          .what = std::format("slashes {} credits for a wrong result of task {}", credits(taken), slash.task.index)};
  if (taken == 0) return transaction;
  transaction.entries = {{Account::stake(slash.worker), -taken}};
  if (to_client != 0) transaction.entries.push_back({Account::client(slash.client), to_client});
  if (taken != to_client) transaction.entries.push_back({Account::platform(), taken - to_client});
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
