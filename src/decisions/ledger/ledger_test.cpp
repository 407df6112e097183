// A transaction moves all its money or none, once for each key, and no balance but mint's goes
// below zero.
#include "decisions/ledger/ledger.h"

#include <gtest/gtest.h>

#include <limits>

namespace weft::ledger {
namespace {

OwnerId owner_of(std::uint8_t number) {
  OwnerId owner;
  owner.bytes[0] = number;
  owner.bytes[31] = 1;
  return owner;
}
JobId job_of(std::uint8_t number) {
  JobId job;
  job.bytes[0] = number;
  return job;
}

const OwnerId client = owner_of(1);
const OwnerId worker_a = owner_of(2);
const OwnerId worker_b = owner_of(3);
const PublicKey key_a{{worker_a.bytes}};
const JobId job = job_of(9);

Ledger funded(MicroCredits credits) {
  Ledger ledger;
  EXPECT_EQ(ledger.apply(issue(client, credits, 1)), Applied::now);
  return ledger;
}
Transaction open(const Ledger& ledger, MicroCredits budget, const OwnerId& who = client) {
  return open_escrow(job, who, budget, ledger.spendable(who));
}
Transaction pay(const Ledger& ledger, const TaskPay& task, const std::vector<OwnerId>& agreeing) {
  return pay_task(task, equal_shares(task, agreeing), agreeing.size(),
                  ledger.escrow(task.task.job));
}

TEST(Account, ReadsWhatItWritesAndNothingElse) {
  for (const Account& account :
       {Account::mint(), Account::platform(), Account::platform_granted(), Account::owner(client),
        Account::granted(client), Account::held(worker_a), Account::held_granted(worker_a),
        Account::stake(worker_b), Account::escrow(job), Account::escrow_granted(job),
        Account::verification(), Account::verification_granted()}) {
    EXPECT_EQ(Account::parse(account.text()).value(), account) << account.text();
  }
  EXPECT_EQ(Account::escrow(job).text(), "escrow:09000000000000000000000000000000");
  EXPECT_EQ(Account::parse("client:" + client.text()).value(), Account::owner(client))
      << "its name in older versions";
  for (const std::string_view wrong : {"", "mint:", "mint:1", "bank", "client", "client:",
                                       "escrow:09", "owner:0OIl", "platform:x", "verification:1"}) {
    EXPECT_FALSE(Account::parse(wrong).has_value()) << wrong;
  }
}

TEST(Ledger, MovesABudgetThroughEscrowToWorkersAndBack) {
  Ledger ledger = funded(1000);

  EXPECT_EQ(ledger.apply(open(ledger, 500)), Applied::now);
  const TaskPay task{.task = {job, 0}, .client = client, .price = 101, .replicas = 2};
  EXPECT_EQ(ledger.apply(pay(ledger, task, {worker_a, worker_b})), Applied::now);
  EXPECT_EQ(ledger.apply(close_escrow(job, client, ledger.escrow(job))), Applied::now);

  EXPECT_EQ(ledger.balance(Account::owner(worker_a)), 50);
  EXPECT_EQ(ledger.balance(Account::owner(worker_b)), 50);
  EXPECT_EQ(ledger.balance(Account::owner(client)), 900)
      << "the odd micro-credit goes back to the client";
  EXPECT_EQ(ledger.balance(Account::escrow(job)), 0);
  EXPECT_EQ(ledger.balance(Account::mint()), -1000);
  EXPECT_EQ(ledger.sum(), 0);
}

TEST(Ledger, AppliesEachKeyOnceWhateverTheReplaySays) {
  Ledger ledger = funded(1000);

  EXPECT_EQ(ledger.apply(issue(client, 5, 1)), Applied::before);
  EXPECT_EQ(ledger.apply(open(ledger, 400)), Applied::now);
  EXPECT_EQ(ledger.apply(open(ledger, 400)), Applied::before);

  EXPECT_EQ(ledger.balance(Account::owner(client)), 600);
}

TEST(Ledger, TakesThePlatformsFeeOutOfTheWorkersShares) {
  Ledger ledger = funded(1000);
  ASSERT_EQ(ledger.apply(open(ledger, 1000)), Applied::now);
  const TaskPay task{
      .task = {job, 0}, .client = client, .price = 1000, .replicas = 2, .fee_permille = 25};

  ASSERT_EQ(ledger.apply(pay(ledger, task, {worker_a, worker_b})), Applied::now);

  EXPECT_EQ(share(task), 488) << "500 less a fee of 12.5, which is rounded down";
  EXPECT_EQ(ledger.balance(Account::owner(worker_a)), 488);
  EXPECT_EQ(ledger.balance(Account::platform()), 24);
  EXPECT_EQ(ledger.sum(), 0);
}

TEST(Ledger, SlashesAStakeOnceForATask) {
  Ledger ledger = funded(1000);
  ASSERT_EQ(ledger.apply(transfer(client, worker_a, 300, 1)), Applied::now);
  ASSERT_EQ(ledger.apply(deposit_stake(worker_a, 300, 1)), Applied::now);
  const auto slashed = [&](MicroCredits penalty, MicroCredits damage, std::uint32_t index) {
    return ledger.apply(slash({.task = {job, index},
                               .worker = key_a,
                               .owner = worker_a,
                               .client = client,
                               .penalty = penalty,
                               .damage = damage,
                               .stake = ledger.balance(Account::stake(worker_a))}));
  };

  EXPECT_EQ(slashed(200, 50, 0), Applied::now);
  EXPECT_EQ(slashed(200, 50, 0), Applied::before);

  EXPECT_EQ(ledger.balance(Account::stake(worker_a)), 100);
  EXPECT_EQ(ledger.balance(Account::owner(client)), 750);
  EXPECT_EQ(ledger.balance(Account::platform()), 150);

  EXPECT_EQ(slashed(200, 150, 1), Applied::now) << "no more than there is";
  EXPECT_EQ(ledger.balance(Account::stake(worker_a)), 0);
  EXPECT_EQ(ledger.balance(Account::owner(client)), 850);
  EXPECT_EQ(slashed(200, 150, 2), Applied::now) << "nothing is left, and the key is spent";
  EXPECT_EQ(ledger.sum(), 0);
}

TEST(Ledger, GivesAStakeBackAndNoMore) {
  Ledger ledger = funded(1000);
  ASSERT_EQ(ledger.apply(deposit_stake(client, 300, 1)), Applied::now);
  EXPECT_EQ(ledger.apply(withdraw_stake(client, 301, 1)).error().code,
            ErrorCode::insufficient_funds);
  EXPECT_EQ(ledger.apply(withdraw_stake(client, 300, 1)), Applied::now);
  EXPECT_EQ(ledger.balance(Account::owner(client)), 1000);
}

TEST(Ledger, PaysNothingFromAnEscrowThatIsClosed) {
  Ledger ledger = funded(1000);
  const TaskPay task{.task = {job, 0}, .client = client, .price = 100, .replicas = 1};
  ASSERT_EQ(ledger.apply(open(ledger, 500)), Applied::now);
  ASSERT_EQ(ledger.apply(pay(ledger, task, {worker_a})), Applied::now);
  ASSERT_EQ(ledger.apply(close_escrow(job, client, {.free = 400})), Applied::now);
  ledger.close(job);

  const auto replay = ledger.apply(pay(ledger, task, {worker_a}));

  ASSERT_FALSE(replay.has_value());
  EXPECT_EQ(replay.error().code, ErrorCode::insufficient_funds);
  EXPECT_EQ(ledger.balance(Account::owner(worker_a)), 100);
}

// Each row breaks one precondition. The refused transaction leaves every balance as it was.
TEST(Ledger, RefusesWhatBreaksItsRulesAndChangesNothing) {
  constexpr MicroCredits most = std::numeric_limits<MicroCredits>::max();
  struct Row {
    std::string_view why;
    Transaction transaction;
    ErrorCode code;
  };
  const std::vector<Row> rows = {
      {"no key", {.key = "", .job = {}, .entries = {}, .what = ""}, ErrorCode::invalid_argument},
      {"unequal",
       {.key = "k",
        .job = {},
        .entries = {{Account::mint(), -5}, {Account::owner(client), 4}},
        .what = ""},
       ErrorCode::invalid_argument},
      {"too little in the account", open_escrow(job, client, 1001, {.free = 1000}),
       ErrorCode::insufficient_funds},
      {"another's empty account", open_escrow(job, worker_a, 1, {}), ErrorCode::insufficient_funds},
      {"a negative budget", open_escrow(job, client, -1, {.free = 1000}),
       ErrorCode::insufficient_funds},
      {"beyond 64 bits",
       {.key = "k",
        .job = {},
        .entries = {{Account::mint(), -most}, {Account::owner(client), most}},
        .what = ""},
       ErrorCode::invalid_argument},
      {"beyond 64 bits within one account",
       {.key = "k",
        .job = {},
        .entries = {{Account::owner(client), most},
                    {Account::owner(client), 1},
                    {Account::mint(), -most}},
        .what = ""},
       ErrorCode::invalid_argument},
  };
  for (const Row& row : rows) {
    Ledger ledger = funded(1000);
    const auto before = ledger.balances();

    const auto refused = ledger.apply(row.transaction);

    ASSERT_FALSE(refused.has_value()) << row.why;
    EXPECT_EQ(refused.error().code, row.code) << row.why << ": " << refused.error().message;
    EXPECT_EQ(ledger.balances(), before) << row.why;
  }
}

TEST(Ledger, GoesOnFromWhatWasStored) {
  Ledger first = funded(1000);
  ASSERT_EQ(first.apply(open(first, 300)), Applied::now);
  std::vector<Entry> balances;
  for (const auto& [account, amount] : first.balances()) balances.push_back({account, amount});
  const std::vector<Ledger::AppliedKey> keys = {{"issue:" + client.text() + ":1", {}},
                                                {"open:" + job.text(), job}};

  Ledger second;
  ASSERT_TRUE(second.restore(balances, keys).has_value());

  EXPECT_EQ(second.balances(), first.balances());
  EXPECT_EQ(second.apply(issue(client, 1000, 1)), Applied::before);
  EXPECT_EQ(second.apply(open(second, 300)), Applied::before);
}

TEST(Ledger, RefusesStoredBalancesThatCannotBe) {
  Ledger unequal;
  EXPECT_EQ(unequal.restore(std::vector<Entry>{{Account::owner(client), 5}}, {}).error().code,
            ErrorCode::data_loss);
  Ledger negative;
  EXPECT_EQ(
      negative
          .restore(std::vector<Entry>{{Account::owner(client), -5}, {Account::owner(worker_a), 5}},
                   {})
          .error()
          .code,
      ErrorCode::data_loss);
}

}  // namespace
}  // namespace weft::ledger
