// Units are counted once, when the pay is free, for work that another owner paid with free credits.
#include "decisions/settlement/work_units.h"

#include <gtest/gtest.h>

namespace weft::settlement {
namespace {

OwnerId named(std::uint8_t number) {
  PublicKey key;
  key.bytes.fill(number);
  return OwnerId::of_first(key);
}
const OwnerId client = named(9);
constexpr MicroCredits credit = 1'000'000;

class WorkUnitsTest : public testing::Test {
 protected:
  // The pay of a task, at half a unit a credit. The job's escrow has free and granted credits.
  ledger::Transaction paid(const OwnerId& worker, const ledger::Funds& escrow,
                           ledger::PayAs as = ledger::PayAs::free) {
    const ledger::TaskPay pay{
        .task = {.job = job_, .index = 3}, .client = client, .price = 10 * credit};
    const ledger::Payee payee{.owner = worker, .amount = 10 * credit, .as = as};
    return ledger::pay_task(pay, std::span(&payee, 1), 1, escrow);
  }
  void add(const ledger::Transaction& transaction) {
    units_.add(transaction.key, transaction.entries,
               PaidJob{.client = client, .price = 40 * credit, .units = 20});
  }

  JobId job_;
  WorkUnits units_;
};

TEST_F(WorkUnitsTest, WorkCountsInTheUnitsThatPricedItsJob) {
  add(paid(named(1), {.free = 10 * credit}));
  add(paid(named(1), {.free = 10 * credit}));

  EXPECT_EQ(units_.of(named(1)), 10U * 1'000'000);
  EXPECT_EQ(units_.of(named(2)), 0U);
}

TEST_F(WorkUnitsTest, GrantedCreditsMakeNone) {
  add(paid(named(1), {.granted = 10 * credit}));
  EXPECT_EQ(units_.of(named(1)), 0U);

  add(paid(named(1), {.free = 4 * credit, .granted = 6 * credit}));
  EXPECT_EQ(units_.of(named(1)), 2U * 1'000'000);
}

TEST_F(WorkUnitsTest, WhatAnOwnerPaysItselfMakesNone) {
  add(paid(client, {.free = 10 * credit}));
  EXPECT_EQ(units_.of(client), 0U);
}

TEST_F(WorkUnitsTest, HeldPayCountsWhenItIsFreeAndLostPayNever) {
  const auto held = paid(named(1), {.free = 10 * credit}, ledger::PayAs::held);
  add(held);
  EXPECT_EQ(units_.of(named(1)), 0U);
  const ledger::HeldPay pay{.task = {.job = job_, .index = 3},
                            .worker = {},
                            .owner = named(1),
                            .funds = {.free = 10 * credit}};
  add(ledger::forfeit(pay, client));
  EXPECT_EQ(units_.of(named(1)), 0U);

  add(ledger::release(pay));
  EXPECT_EQ(units_.of(named(1)), 5U * 1'000'000);
}

TEST_F(WorkUnitsTest, TransfersStakesAndRefundsMakeNone) {
  add(ledger::transfer(named(2), named(1), credit, 1));
  add(ledger::deposit_stake(named(1), credit, 1));
  add(ledger::issue(named(1), credit, 1));
  add(ledger::close_escrow(job_, named(1), {.free = credit}));
  EXPECT_EQ(units_.of(named(1)), 0U);
}

TEST_F(WorkUnitsTest, AnAnswerCountsItsPriceOnceAndNotForItsAsker) {
  const auto account = [](const OwnerId& of) { return ledger::Account::owner(of); };
  const std::vector<ledger::Entry> open = {{account(client), -5 * credit},
                                           {ledger::Account::escrow(job_), 5 * credit}};
  const std::vector<ledger::Entry> end = {{ledger::Account::escrow(job_), -5 * credit},
                                          {account(named(1)), 2 * credit},
                                          {account(client), 3 * credit}};
  units_.add("answer-end:a", end, std::nullopt);
  EXPECT_EQ(units_.of(named(1)), 0U) << "an answer that never began";
  units_.add("answer-open:a", open, std::nullopt);
  units_.add("answer-end:a", end, std::nullopt);
  units_.add("answer-end:a", end, std::nullopt);
  EXPECT_EQ(units_.of(named(1)), 2U * 1'000'000);
  EXPECT_EQ(units_.of(client), 0U);
}

}  // namespace
}  // namespace weft::settlement
