#include "common/records/transaction.h"

#include <algorithm>

#include "common/base/check.h"
#include "common/base/format.h"

namespace weft::ledger {
namespace {

std::string credits(MicroCredits amount) {
  return weft::format("{}.{:06}", amount / 1'000'000, amount % 1'000'000);
}

void post(std::vector<Entry>& entries, const Account& account, MicroCredits amount, Sign sign) {
  if (amount != 0)
    entries.push_back({.account = account, .amount = sign == Sign::add ? amount : -amount});
}

Funds minus(const Funds& a, const Funds& b) {
  return {.free = a.free - b.free, .granted = a.granted - b.granted};
}

// `part` thousandths of a worker's whole share.
MicroCredits permille(MicroCredits whole, std::uint32_t part) {
  return whole / 1000 * part + whole % 1000 * part / 1000;
}

}  // namespace

void post_owner(std::vector<Entry>& entries, const OwnerId& owner, const Funds& funds, Sign sign) {
  post(entries, Account::owner(owner), funds.free, sign);
  post(entries, Account::granted(owner), funds.granted, sign);
}
void post_held(std::vector<Entry>& entries, const OwnerId& owner, const Funds& funds, Sign sign) {
  post(entries, Account::held(owner), funds.free, sign);
  post(entries, Account::held_granted(owner), funds.granted, sign);
}
void post_escrow(std::vector<Entry>& entries, const JobId& job, const Funds& funds, Sign sign) {
  post(entries, Account::escrow(job), funds.free, sign);
  post(entries, Account::escrow_granted(job), funds.granted, sign);
}
void post_platform(std::vector<Entry>& entries, const Funds& funds, Sign sign) {
  post(entries, Account::platform(), funds.free, sign);
  post(entries, Account::platform_granted(), funds.granted, sign);
}
void post_verification(std::vector<Entry>& entries, const Funds& funds, Sign sign) {
  post(entries, Account::verification(), funds.free, sign);
  post(entries, Account::verification_granted(), funds.granted, sign);
}

Transaction grant(const OwnerId& owner, MicroCredits amount) {
  return {.key = "grant:" + owner.text(),
          .job = {},
          .entries = {{Account::mint(), -amount}, {Account::granted(owner), amount}},
          .what = weft::format("grants {} credits to a new client", credits(amount))};
}

Transaction issue(const OwnerId& owner, MicroCredits amount, std::uint64_t number) {
  return {.key = weft::format("issue:{}:{}", owner.text(), number),
          .job = {},
          .entries = {{Account::mint(), -amount}, {Account::owner(owner), amount}},
          .what = weft::format("the operator issues {} credits", credits(amount))};
}

Transaction transfer(const OwnerId& from, const OwnerId& to, MicroCredits amount,
                     std::uint64_t number) {
  return {
      .key = weft::format("transfer:{}:{}", from.text(), number),
      .job = {},
      .entries = {{Account::owner(from), -amount}, {Account::owner(to), amount}},
      .what = weft::format("{} pays {} credits to {}", from.text(), credits(amount), to.text())};
}

Transaction settle(const OwnerId& owner, MicroCredits amount, std::uint64_t number) {
  return {
      .key = weft::format("settle:{}:{}", owner.text(), number),
      .job = {},
      .entries = {{Account::owner(owner), -amount}, {Account::settled(owner), amount}},
      .what = weft::format("{} settles {} credits on the chain", owner.text(), credits(amount))};
}

Transaction open_escrow(const JobId& job, const OwnerId& client, MicroCredits budget,
                        const Funds& has) {
  Transaction transaction{
      .key = "open:" + job.text(),
      .job = job,
      .entries = {},
      .what = weft::format("sets the budget of {} credits aside", credits(budget))};
  const Funds funds = granted_first(has, budget);
  post_owner(transaction.entries, client, funds, Sign::take);
  post_escrow(transaction.entries, job, funds, Sign::add);
  return transaction;
}

MicroCredits share(const TaskPay& pay) {
  check(pay.replicas > 0, "a task has at least one replica");
  check(pay.fee_permille + pay.verification_permille < 1000, "fees are less than the whole");
  const MicroCredits whole = pay.price / pay.replicas;
  return whole - permille(whole, pay.fee_permille) - permille(whole, pay.verification_permille);
}

std::vector<Payee> equal_shares(const TaskPay& pay, std::span<const OwnerId> agreeing) {
  check(agreeing.size() <= pay.replicas, "no more workers are paid than there are replicas");
  const MicroCredits each = share(pay);
  std::vector<Payee> payees;
  payees.reserve(agreeing.size());
  for (const OwnerId& owner : agreeing) payees.push_back({.owner = owner, .amount = each});
  return payees;
}

Transaction pay_task(const TaskPay& pay, std::span<const Payee> payees, std::size_t agreeing,
                     const Funds& escrow) {
  check(agreeing <= payees.size() && agreeing <= pay.replicas, "as many agree as are paid");
  const MicroCredits whole = pay.price / pay.replicas;
  const auto count = static_cast<MicroCredits>(agreeing);
  std::vector<MicroCredits> amounts;
  MicroCredits paid = 0;
  for (const Payee& payee : payees) amounts.push_back(payee.amount);
  amounts.push_back(permille(whole, pay.fee_permille) * count);
  amounts.push_back(permille(whole, pay.verification_permille) * count);
  for (const MicroCredits amount : amounts) paid += amount;

  Transaction transaction{
      .key = "pay:" + pay.task.text(),
      .job = pay.task.job,
      .entries = {},
      .what = agreeing == 1
                  ? weft::format("pays {} credits for task {}", credits(share(pay)), pay.task.index)
                  : weft::format("pays {} credits for task {} to each of {} workers",
                                 credits(share(pay)), pay.task.index, agreeing)};
  auto& entries = transaction.entries;
  const Funds spent = granted_first(escrow, paid);
  const Funds rest = free_first(minus(escrow, spent), pay.price - paid);
  post_escrow(entries, pay.task.job,
              {.free = spent.free + rest.free, .granted = spent.granted + rest.granted},
              Sign::take);
  const std::vector<Funds> parts = divide(spent, amounts);
  for (std::size_t i = 0; i < payees.size(); ++i) {
    if (payees[i].as == PayAs::held) {
      post_held(entries, payees[i].owner, parts[i], Sign::add);
      continue;
    }
    post_owner(entries, payees[i].owner, parts[i], Sign::add);
    const MicroCredits staked = std::clamp<MicroCredits>(payees[i].staked, 0, parts[i].free);
    post(entries, Account::owner(payees[i].owner), staked, Sign::take);
    post(entries, Account::stake(payees[i].owner), staked, Sign::add);
  }
  post_platform(entries, parts[payees.size()], Sign::add);
  post_verification(entries, parts[payees.size() + 1], Sign::add);
  post_owner(entries, pay.client, rest, Sign::add);
  return transaction;
}

Transaction pay_task(const TaskPay& pay, std::span<const OwnerId> agreeing, const Funds& escrow) {
  return pay_task(pay, equal_shares(pay, agreeing), agreeing.size(), escrow);
}

Funds held_by(const Transaction& transaction, const OwnerId& owner) {
  Funds funds;
  for (const Entry& entry : transaction.entries) {
    if (entry.account == Account::held(owner)) funds.free += entry.amount;
    if (entry.account == Account::held_granted(owner)) funds.granted += entry.amount;
  }
  return funds;
}

Transaction release(const HeldPay& held) {
  Transaction transaction{
      .key = weft::format("release:{}:{}", held.task.text(), held.worker.text()),
      .job = {},
      .entries = {},
      .what = weft::format("frees the pay of {} credits for task {}", credits(held.funds.total()),
                           held.task.index)};
  post_held(transaction.entries, held.owner, held.funds, Sign::take);
  post_owner(transaction.entries, held.owner, held.funds, Sign::add);
  return transaction;
}

Transaction forfeit(const HeldPay& held, const std::optional<OwnerId>& client) {
  Transaction transaction{
      .key = weft::format("forfeit:{}:{}", held.task.text(), held.worker.text()),
      .job = {},
      .entries = {},
      .what = client ? weft::format("returns {} credits for task {}, whose result was wrong",
                                    credits(held.funds.total()), held.task.index)
                     : weft::format("takes the held pay of {} credits for task {}",
                                    credits(held.funds.total()), held.task.index)};
  post_held(transaction.entries, held.owner, held.funds, Sign::take);
  if (client) {
    post_owner(transaction.entries, *client, held.funds, Sign::add);
  } else {
    post_verification(transaction.entries, held.funds, Sign::add);
  }
  return transaction;
}

Transaction refund_wrong(const WrongRefund& refund) {
  Transaction transaction{
      .key = weft::format("correct:{}:{}", refund.task.text(), refund.time),
      .job = refund.task.job,
      .entries = {},
      .what = weft::format(
          "returns {} credits for task {}, whose accepted result was wrong",
          credits(refund.platform.total() + refund.verification.total() + refund.stake),
          refund.task.index)};
  post_platform(transaction.entries, refund.platform, Sign::take);
  post_verification(transaction.entries, refund.verification, Sign::take);
  if (refund.stake > 0)
    transaction.entries.push_back({Account::stake(refund.worker), -refund.stake});
  post_owner(transaction.entries, refund.client,
             {.free = refund.platform.free + refund.verification.free + refund.stake,
              .granted = refund.platform.granted + refund.verification.granted},
             Sign::add);
  return transaction;
}

Transaction pay_verifier(const TaskId& task, const PublicKey& worker, const OwnerId& owner,
                         MicroCredits amount, const Funds& has) {
  Transaction transaction{
      .key = weft::format("verify:{}:{}", task.text(), worker.text()),
      .job = {},
      .entries = {},
      .what = weft::format("pays {} credits for checking task {}", credits(amount), task.index)};
  const Funds funds = granted_first(has, amount);
  post_verification(transaction.entries, funds, Sign::take);
  post_owner(transaction.entries, owner, funds, Sign::add);
  return transaction;
}

Transaction refund(const JobId& job, const OwnerId& client, MicroCredits amount,
                   std::string_view key_suffix, const Funds& escrow) {
  Transaction transaction{
      .key = weft::format("refund:{}:{}", job.text(), key_suffix),
      .job = job,
      .entries = {},
      .what = weft::format("returns {} credits of the budget", credits(amount))};
  const Funds funds = free_first(escrow, amount);
  post_escrow(transaction.entries, job, funds, Sign::take);
  post_owner(transaction.entries, client, funds, Sign::add);
  return transaction;
}

Transaction close_escrow(const JobId& job, const OwnerId& client, const Funds& remaining) {
  Transaction transaction{
      .key = "close:" + job.text(),
      .job = job,
      .entries = {},
      .what = weft::format("returns {} credits at the end of the job", credits(remaining.total()))};
  post_escrow(transaction.entries, job, remaining, Sign::take);
  post_owner(transaction.entries, client, remaining, Sign::add);
  return transaction;
}

Transaction deposit_stake(const OwnerId& owner, MicroCredits amount, std::uint64_t number) {
  return {.key = weft::format("stake:{}:{}", owner.text(), number),
          .job = {},
          .entries = {{Account::owner(owner), -amount}, {Account::stake(owner), amount}},
          .what = weft::format("stakes {} credits", credits(amount))};
}

Transaction withdraw_stake(const OwnerId& owner, MicroCredits amount, std::uint64_t number) {
  return {.key = weft::format("unstake:{}:{}", owner.text(), number),
          .job = {},
          .entries = {{Account::stake(owner), -amount}, {Account::owner(owner), amount}},
          .what = weft::format("takes {} credits of the stake back", credits(amount))};
}

Transaction slash(const Slash& slash) {
  const MicroCredits taken =
      std::clamp<MicroCredits>(slash.penalty, 0, std::max<MicroCredits>(slash.stake, 0));
  const MicroCredits to_client = std::clamp<MicroCredits>(slash.damage, 0, taken);
  Transaction transaction{
      .key = weft::format("slash:{}:{}", slash.task.text(), slash.worker.text()),
      .job = slash.task.job,
      .entries = {},
      .what = weft::format("slashes {} credits for a wrong result of task {}", credits(taken),
                           slash.task.index)};
  post(transaction.entries, Account::stake(slash.owner), taken, Sign::take);
  post(transaction.entries, Account::owner(slash.client), to_client, Sign::add);
  post(transaction.entries, Account::platform(), taken - to_client, Sign::add);
  return transaction;
}

}  // namespace weft::ledger
