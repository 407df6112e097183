// The rules for granted and held credits, one test for each rule: each test fails if its rule is
// removed from rules.cpp. The transactions are those that an attacker would want to make; Weft does
// not make them.
#include "decisions/ledger/rules.h"

#include <gtest/gtest.h>

#include <random>

#include "decisions/ledger/answer_pay.h"
#include "decisions/ledger/ledger.h"

namespace weft::ledger {
namespace {

OwnerId owner(std::uint8_t number) {
  OwnerId id;
  id.bytes[0] = number;
  id.bytes[31] = 2;
  return id;
}
PublicKey device_of(const OwnerId& id) { return {{id.bytes}}; }

const OwnerId attacker = owner(1);
const OwnerId second_wallet = owner(2);
const OwnerId honest = owner(3);
const JobId the_job{{7}};
const TaskId the_task{.job = the_job, .index = 0};

class Granted : public testing::Test {
 protected:
  void SetUp() override { must(grant(attacker, 1000)); }

  void must(const Transaction& transaction) {
    const auto applied = ledger.apply(transaction);
    ASSERT_TRUE(applied.has_value()) << transaction.key << ": " << applied.error().message;
    ASSERT_EQ(*applied, Applied::now) << transaction.key;
  }
  // Expects that `entries` are refused because of a rule, not for a lack of credits.
  void refused(std::vector<Entry> entries) {
    const auto before = ledger.balances();
    const auto result = ledger.apply(
        {.key = "attack", .job = {}, .entries = std::move(entries), .what = "an attack"});
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().code, ErrorCode::permission_denied) << result.error().message;
    EXPECT_EQ(ledger.balances(), before);
  }
  void open(const OwnerId& client, MicroCredits budget) {
    must(open_escrow(the_job, client, budget, ledger.spendable(client)));
  }
  Transaction paid(const OwnerId& client, MicroCredits price, const OwnerId& worker,
                   PayAs as = PayAs::free, MicroCredits staked = 0) {
    const TaskPay pay{.task = the_task, .client = client, .price = price};
    auto payees = equal_shares(pay, std::vector{worker});
    payees[0].as = as;
    payees[0].staked = staked;
    return pay_task(pay, payees, 1, ledger.escrow(the_job));
  }

  Ledger ledger;
};

TEST_F(Granted, CreditsAreNotStaked) {
  refused({{Account::granted(attacker), -10}, {Account::stake(attacker), 10}});
  EXPECT_EQ(ledger.apply(deposit_stake(attacker, 10, 1)).error().code,
            ErrorCode::insufficient_funds)
      << "a stake is free credits, of which it has none";
}

TEST_F(Granted, CreditsDoNotBecomeFreeOnes) {
  refused({{Account::granted(attacker), -10}, {Account::owner(attacker), 10}});
  refused({{Account::granted(attacker), -10}, {Account::platform(), 10}});
  must(issue(honest, 1000, 1));
  refused({{Account::granted(attacker), -10},
           {Account::owner(honest), -10},
           {Account::owner(attacker), 20}});
}

TEST_F(Granted, CreditsDoNotBecomeFreeOnesByWayOfMint) {
  must(issue(honest, 1000, 1));
  // The transaction also issues credits, which would hide the change of granted ones in the sums.
  refused(
      {{Account::granted(attacker), -10}, {Account::mint(), -5}, {Account::owner(attacker), 15}});
  refused({{Account::granted(attacker), -10}, {Account::mint(), 5}, {Account::owner(attacker), 5}});
}

TEST_F(Granted, CreditsAreNotTransferred) {
  refused({{Account::granted(attacker), -10}, {Account::granted(second_wallet), 10}});
  refused({{Account::granted(attacker), -10}, {Account::held_granted(second_wallet), 10}});
  refused({{Account::granted(attacker), -10}, {Account::verification_granted(), 10}});
  EXPECT_EQ(ledger.apply(transfer(attacker, second_wallet, 10, 1)).error().code,
            ErrorCode::insufficient_funds);
}

TEST_F(Granted, CreditsStayGrantedWhenAnotherOwnWalletEarnsThem) {
  open(attacker, 400);
  must(paid(attacker, 300, second_wallet));
  must(close_escrow(the_job, attacker, ledger.escrow(the_job)));

  EXPECT_EQ(ledger.spendable(second_wallet), (Funds{.free = 0, .granted = 300}));
  EXPECT_EQ(ledger.spendable(attacker), (Funds{.free = 0, .granted = 700}));
  EXPECT_FALSE(ledger.apply(deposit_stake(second_wallet, 1, 1)).has_value());
  EXPECT_FALSE(ledger.apply(transfer(second_wallet, attacker, 1, 1)).has_value());
}

TEST_F(Granted, CreditsStayGrantedOverHeldPayAndVerification) {
  const TaskPay pay{.task = the_task,
                    .client = attacker,
                    .price = 1000,
                    .replicas = 1,
                    .fee_permille = 10,
                    .verification_permille = 20};
  open(attacker, 1000);
  auto payees = equal_shares(pay, std::vector{second_wallet});
  payees[0].as = PayAs::held;
  const Transaction transaction = pay_task(pay, payees, 1, ledger.escrow(the_job));
  must(transaction);
  const HeldPay held{.task = the_task,
                     .worker = device_of(second_wallet),
                     .owner = second_wallet,
                     .funds = held_by(transaction, second_wallet)};
  EXPECT_EQ(held.funds, (Funds{.free = 0, .granted = 970}));
  EXPECT_EQ(ledger.verification(), (Funds{.free = 0, .granted = 20}));
  EXPECT_EQ(ledger.platform(), (Funds{.free = 0, .granted = 10}));

  must(release(held));
  EXPECT_EQ(ledger.apply(release(held)), Applied::before);
  must(pay_verifier(the_task, device_of(honest), honest, 20, ledger.verification()));

  EXPECT_EQ(ledger.spendable(second_wallet), (Funds{.free = 0, .granted = 970}));
  EXPECT_EQ(ledger.spendable(honest), (Funds{.free = 0, .granted = 20}));
  EXPECT_EQ(ledger.held(second_wallet), Funds{});
}

// A stake grows out of earned credits (`weft serve --stake-permille`), but only out of their free
// part.
TEST_F(Granted, CreditsThatAreEarnedDoNotGrowAStake) {
  must(issue(attacker, 500, 1));
  open(attacker, 1500);
  must(paid(attacker, 1500, second_wallet, PayAs::free, 1400));

  EXPECT_EQ(ledger.balance(Account::stake(second_wallet)), 500);
  EXPECT_EQ(ledger.spendable(second_wallet), (Funds{.free = 0, .granted = 1000}));
}

TEST_F(Granted, CreditsAreSpentFirstAndReturnedAsTheyWere) {
  must(issue(attacker, 500, 1));
  open(attacker, 1200);
  EXPECT_EQ(ledger.spendable(attacker), (Funds{.free = 300, .granted = 0}));
  EXPECT_EQ(ledger.escrow(the_job), (Funds{.free = 200, .granted = 1000}));

  must(refund(the_job, attacker, 150, "1", ledger.escrow(the_job)));
  EXPECT_EQ(ledger.escrow(the_job), (Funds{.free = 50, .granted = 1000}))
      << "what stays is spent first";
  must(paid(attacker, 700, honest));
  must(close_escrow(the_job, attacker, ledger.escrow(the_job)));

  EXPECT_EQ(ledger.spendable(honest), (Funds{.free = 0, .granted = 700}));
  EXPECT_EQ(ledger.spendable(attacker), (Funds{.free = 500, .granted = 300}));
}

TEST_F(Granted, CreditsOfOnePaymentAreSharedInProportion) {
  must(issue(attacker, 500, 1));
  open(attacker, 1500);
  const TaskPay pay{.task = the_task, .client = attacker, .price = 1203, .replicas = 2};
  const std::vector<OwnerId> agreeing{second_wallet, honest};
  must(pay_task(pay, equal_shares(pay, agreeing), 2, ledger.escrow(the_job)));

  // Each of the two owners gets 601 of the 1,202 credits, which include all 1,000 granted credits.
  EXPECT_EQ(ledger.spendable(second_wallet), (Funds{.free = 101, .granted = 500}));
  EXPECT_EQ(ledger.spendable(honest), (Funds{.free = 101, .granted = 500}));
  EXPECT_EQ(ledger.spendable(attacker), (Funds{.free = 1, .granted = 0}));
}

class Held : public Granted {
 protected:
  // A newcomer has pay of 300 free credits.
  void SetUp() override {
    must(issue(honest, 1000, 1));
    open(honest, 500);
    const Transaction transaction = paid(honest, 300, attacker, PayAs::held);
    must(transaction);
    held = {.task = the_task,
            .worker = device_of(attacker),
            .owner = attacker,
            .funds = held_by(transaction, attacker)};
    ASSERT_EQ(held.funds, (Funds{.free = 300, .granted = 0}));
  }
  HeldPay held;
};

TEST_F(Held, PayIsNeitherSpentNorStakedNorTransferredBeforeItIsFree) {
  EXPECT_EQ(ledger.spendable(attacker), Funds{});
  refused({{Account::held(attacker), -10}, {Account::stake(attacker), 10}});
  refused({{Account::held(attacker), -10}, {Account::escrow(the_job), 10}});
  refused({{Account::held(attacker), -10}, {Account::held(second_wallet), 10}});
}

TEST_F(Held, PayOfAWrongTaskGoesBackToItsClient) {
  must(forfeit(held, honest));
  EXPECT_EQ(ledger.spendable(honest), (Funds{.free = 800, .granted = 0}));
  EXPECT_FALSE(ledger.apply(release(held)).has_value()) << "there is nothing left to free";
}

TEST_F(Held, PayThatIsLostWithoutADamagedClientGoesToVerification) {
  must(forfeit(held, std::nullopt));
  EXPECT_EQ(ledger.verification(), (Funds{.free = 300, .granted = 0}));
  EXPECT_EQ(ledger.held(attacker), Funds{});
}

TEST_F(Held, IsNotSettled) {
  refused({{Account::held(attacker), -10}, {Account::settled(attacker), 10}});
}

TEST_F(Granted, CreditsAreNotSettled) {
  refused({{Account::granted(attacker), -10}, {Account::settled(attacker), 10}});
}

TEST_F(Granted, OnlyAnOwnersOwnFreeCreditsAreSettledAndNothingTakesThemBack) {
  must(issue(honest, 100, 1));
  must(issue(attacker, 100, 2));
  must(settle(honest, 40, 1));
  EXPECT_EQ(ledger.balance(Account::settled(honest)), 40);
  EXPECT_EQ(ledger.spendable(honest), (Funds{.free = 60, .granted = 0}));
  refused({{Account::owner(honest), -10}, {Account::settled(attacker), 10}});
  refused({{Account::mint(), -10}, {Account::settled(attacker), 10}});
  refused({{Account::settled(honest), -10}, {Account::owner(honest), 10}});
  refused({{Account::settled(honest), -10}, {Account::owner(attacker), 10}});
  refused({{Account::settled(honest), -10}, {Account::mint(), 10}});
  EXPECT_EQ(ledger.apply(settle(honest, 61, 2)).error().code, ErrorCode::insufficient_funds);
  EXPECT_EQ(ledger.apply(settle(honest, 40, 1)), Applied::before) << "the same request";
}

TEST_F(Held, AccountsOfOlderHistoriesGetNothing) {
  Account worker = Account::owner(attacker);
  worker.kind = Account::Kind::worker;
  refused({{Account::owner(honest), -10}, {worker, 10}});
}

TEST(Funds, AreDividedWithoutLossAndNoShareIsOffByAMicroCredit) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 20'000; ++round) {
    std::vector<MicroCredits> amounts(random() % 9);
    MicroCredits total = 0;
    for (MicroCredits& amount : amounts) {
      amount = static_cast<MicroCredits>(random() >> (6 + random() % 58));
      total += amount;
    }
    Funds all{.free = 0,
              .granted = total == 0 ? 0 : static_cast<MicroCredits>(random()) & 0x7fffffffffffffff};
    if (total > 0) all.granted %= total + 1;
    all.free = total - all.granted;

    const auto parts = divide(all, amounts);

    Funds sum;
    for (std::size_t i = 0; i < parts.size() && total > 0; ++i) {
      sum.free += parts[i].free;
      sum.granted += parts[i].granted;
      ASSERT_EQ(parts[i].total(), amounts[i]);
      ASSERT_GE(parts[i].free, 0);
      ASSERT_GE(parts[i].granted, 0);
      const double exact = static_cast<double>(all.granted) * static_cast<double>(amounts[i]) /
                           static_cast<double>(total);
      // The tolerance is relative because doubles hold only 53 bits of the exact value.
      ASSERT_NEAR(static_cast<double>(parts[i].granted), exact, 1 + exact * 1e-14) << round;
    }
    if (!amounts.empty()) {
      ASSERT_EQ(sum, all);
    }
  }
}

}  // namespace
}  // namespace weft::ledger
