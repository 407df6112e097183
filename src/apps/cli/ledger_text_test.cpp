// The audit trail is readable, amounts are exact, and a ledger that does not add up is reported.
#include "apps/cli/ledger_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft::cli {
namespace {

namespace api = protocol::api;
using testing::HasSubstr;

// A job with a budget of 1 credit: one task of 0.3 is paid to two workers, with the fee and the odd
// micro-credit, and the rest is returned.
api::LedgerJob paid_job() {
  const auto entry = [](std::string key, std::string what, MicroCredits amount,
                        MicroCredits balance, std::vector<api::LedgerMovement> movements) {
    return api::LedgerEntry{.key = std::move(key),
                            .job = "0a",
                            .what = std::move(what),
                            .amount = amount,
                            .balance = balance,
                            .time = 1'764'000'000'000,
                            .movements = std::move(movements)};
  };
  api::LedgerJob job{.job = "0a", .amount = 0, .entries = {}, .next = 0};
  job.entries.push_back(
      entry("open:0a", "sets the budget aside", 1'000'000, 1'000'000,
            {{"owner:C", -1'000'000, 9'000'000}, {"escrow:0a", 1'000'000, 1'000'000}}));
  job.entries.push_back(entry("pay:0a/0", "pays task 0", -300'001, 699'999,
                              {{"escrow:0a", -300'001, 699'999},
                               {"owner:A", 142'500, 142'500},
                               {"owner:B", 142'500, 500'000},
                               {"platform", 15'000, 15'000},
                               {"owner:C", 1, 9'000'001}}));
  job.entries.push_back(entry("slash:0a/0:D", "slashes a stake", 0, 0,
                              {{"stake:D", -5, 5}, {"owner:C", 5, 9'000'006}}));
  job.entries.push_back(entry("close:0a", "returns the rest", -699'999, 0,
                              {{"escrow:0a", -699'999, 0}, {"owner:C", 699'999, 9'700'005}}));
  return job;
}

TEST(LedgerText, TellsAJobsMoneyFromEscrowToPay) {
  const std::string text = ledger_text(paid_job());

  EXPECT_TRUE(text.starts_with("Job 0a: its escrow holds 0.000000 credits.\n")) << text;
  EXPECT_THAT(text, HasSubstr("2025-11-24 16:00:00  pays task 0\n"));
  EXPECT_THAT(text, HasSubstr("    escrow:0a                                                       "
                              "  -0.300001  then holds             0.699999\n"));
  EXPECT_THAT(text, HasSubstr("    from client                      1.000000\n"));
  EXPECT_THAT(text, HasSubstr("    to client                        0.700005\n"));
  EXPECT_THAT(text, HasSubstr("    to platform                      0.015000\n"));
  EXPECT_THAT(text, HasSubstr("    to worker                        0.285000\n"));
  EXPECT_TRUE(text.ends_with("    left                             0.000000\n")) << text;
  EXPECT_TRUE(check_ledger(paid_job()).has_value());
}

TEST(LedgerText, SaysWhereAJobDoesNotAddUp) {
  auto unequal = paid_job();
  unequal.entries[1].movements[1].amount += 1;
  auto broken_chain = paid_job();
  broken_chain.entries[3].movements[0].balance = 1;
  auto begins_with_money = paid_job();
  begins_with_money.entries.erase(begins_with_money.entries.begin());

  EXPECT_EQ(check_ledger(unequal).error().message,
            "The transaction pay:0a/0 sums to 1 micro-credits, not to 0.");
  EXPECT_EQ(check_ledger(broken_chain).error().message,
            "The ledger's entries do not add up: after pay:0a/0 the account holds 0.699999, "
            "close:0a changes it by -0.699999, and 0.000001 are left.");
  EXPECT_FALSE(check_ledger(begins_with_money).has_value());
}

TEST(LedgerText, TellsAnAccountsHistoryNewestFirst) {
  api::LedgerAccount account{.account = "owner:A", .amount = 250, .entries = {}, .next = 7};
  account.entries.push_back({.key = "b",
                             .job = "0a",
                             .what = "pays",
                             .amount = 150,
                             .balance = 250,
                             .time = 2000,
                             .movements = {}});
  account.entries.push_back({.key = "a",
                             .job = "",
                             .what = "pays first",
                             .amount = 100,
                             .balance = 100,
                             .time = 1000,
                             .movements = {}});

  const std::string text = ledger_text(account);

  EXPECT_THAT(
      text,
      HasSubstr("1970-01-01 00:00:02            +0.000150             0.000250  pays (job 0a)\n"));
  EXPECT_THAT(text, HasSubstr("--limit"));
  EXPECT_TRUE(check_ledger(account).has_value());
  std::swap(account.entries[0], account.entries[1]);
  EXPECT_FALSE(check_ledger(account).has_value());
}

TEST(LedgerText, ListsEveryBalanceAndTheirSum) {
  const api::Ledger ledger{
      .sum = 0,
      .balances = {{"mint", -9'223'372'036'854'775'807}, {"owner:C", 9'223'372'036'854'775'807}}};

  EXPECT_THAT(
      ledger_text(ledger),
      HasSubstr(
          "mint                                                      -9223372036854.775807\n"));
  EXPECT_THAT(
      ledger_text(ledger),
      HasSubstr(
          "sum                                                                    0.000000\n"));
  EXPECT_TRUE(check_ledger(ledger).has_value());
  EXPECT_FALSE(
      check_ledger(api::Ledger{.sum = 0, .balances = {{"mint", 5}, {"owner:C", -5}}}).has_value())
      << "only mint may owe";
  EXPECT_FALSE(
      check_ledger(api::Ledger{.sum = 0, .balances = {{"mint", -5}, {"owner:C", 6}}}).has_value());
}

}  // namespace
}  // namespace weft::cli
