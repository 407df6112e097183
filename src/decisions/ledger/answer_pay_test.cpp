// Tests of pay for answers: the cost of an answer comes once out of the amount that was set aside
// for it, and no credit is lost in dividing it.
#include "decisions/ledger/answer_pay.h"

#include <gtest/gtest.h>

#include <random>

#include "decisions/ledger/ledger.h"

namespace weft::ledger {
namespace {

OwnerId key_of(std::uint8_t number) {
  OwnerId owner;
  owner.bytes[0] = number;
  return owner;
}
AnswerPay pay(Funds held, MicroCredits due) {
  AnswerPay out{.answer = {}, .client = key_of(1), .held = held, .due = due, .tokens = 10};
  out.answer.bytes[0] = 7;
  return out;
}

TEST(AnswerPay, PricesAreRoundedUpAndBounded) {
  EXPECT_EQ(price_of_tokens(0, 1000), 0);
  EXPECT_EQ(price_of_tokens(1, 1), 1);
  EXPECT_EQ(price_of_tokens(1000, 7), 7);
  EXPECT_EQ(price_of_tokens(1001, 7), 8);
  EXPECT_EQ(price_of_tokens(1'000'000'000, 1'000'000'000'000), 1'000'000'000'000'000'000);
  EXPECT_EQ(price_of_tokens(~std::uint64_t{0}, 1'000'000'000'000),
            std::numeric_limits<MicroCredits>::max());
}

TEST(AnswerPay, WorkersShareByWhatTheyDidAndTheRestGoesBack) {
  Ledger ledger;
  ASSERT_EQ(ledger.apply(issue(key_of(1), 1000, 1)), Applied::now);
  const AnswerPay asked = pay({.free = 500}, 100);
  ASSERT_EQ(ledger.apply(open_answer(asked.answer, asked.client, 500, "tiny",
                                     ledger.spendable(asked.client))),
            Applied::now);

  ASSERT_EQ(ledger.apply(end_answer(
                asked, std::vector<AnswerWork>{{key_of(2), 20}, {key_of(3), 10}}, "verified")),
            Applied::now);

  EXPECT_EQ(ledger.balance(Account::owner(key_of(2))), 66);
  EXPECT_EQ(ledger.balance(Account::owner(key_of(3))), 33);
  EXPECT_EQ(ledger.balance(Account::owner(key_of(1))), 901);
  EXPECT_EQ(ledger.balance(Account::escrow(asked.answer)), 0);
  EXPECT_EQ(ledger.apply(end_answer(asked, {}, "again")), Applied::before) << "an answer ends once";
  ledger.close(asked.answer);
  EXPECT_FALSE(ledger.apply(end_answer(asked, {}, "again")).has_value()) << "its escrow is empty";
}

TEST(AnswerPay, WithoutWorkAllGoesBackAndNeverMoreThanIsHeldIsPaid) {
  const auto back = end_answer(pay({.free = 500}, 100), {}, "lost");
  ASSERT_EQ(back.entries.size(), 2U);
  EXPECT_EQ(back.entries[1].amount, 500);
  const auto all =
      end_answer(pay({.free = 500}, 900), std::vector<AnswerWork>{{key_of(2), 1}}, "verified");
  ASSERT_EQ(all.entries.size(), 2U);
  EXPECT_EQ(all.entries[1], (Entry{Account::owner(key_of(2)), 500}));
}

TEST(AnswerPay, PaysGrantedCreditsFirstInProportionAndReturnsTheRestAsItWas) {
  Ledger ledger;
  ASSERT_EQ(ledger.apply(grant(key_of(1), 60)), Applied::now);
  ASSERT_EQ(ledger.apply(issue(key_of(1), 1000, 1)), Applied::now);
  AnswerPay asked = pay({}, 100);
  ASSERT_EQ(ledger.apply(open_answer(asked.answer, asked.client, 500, "tiny",
                                     ledger.spendable(asked.client))),
            Applied::now);
  asked.held = ledger.escrow(asked.answer);
  EXPECT_EQ(asked.held, (Funds{.free = 440, .granted = 60}));

  ASSERT_EQ(ledger.apply(end_answer(asked, std::vector<AnswerWork>{{key_of(2), 3}, {key_of(3), 1}},
                                    "verified")),
            Applied::now);

  EXPECT_EQ(ledger.spendable(key_of(2)), (Funds{.free = 30, .granted = 45}));
  EXPECT_EQ(ledger.spendable(key_of(3)), (Funds{.free = 10, .granted = 15}));
  EXPECT_EQ(ledger.spendable(key_of(1)), (Funds{.free = 960, .granted = 0}));
}

TEST(AnswerPay, SumsToZeroForEveryDivision) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 10'000; ++round) {
    std::vector<AnswerWork> work;
    for (std::size_t i = 0; i < random() % 6; ++i)
      work.push_back({key_of(static_cast<std::uint8_t>(10 + i)), random() >> (random() % 64)});
    const Funds held{.free = static_cast<MicroCredits>(random() >> 3),
                     .granted = random() % 2 == 0 ? 0 : static_cast<MicroCredits>(random() >> 3)};
    const auto transaction =
        end_answer(pay(held, static_cast<MicroCredits>(random() >> 2)), work, "x");
    Funds sum;
    for (const Entry& entry : transaction.entries) {
      (is_granted(entry.account.kind) ? sum.granted : sum.free) += entry.amount;
      if (entry.account.kind != Account::Kind::escrow &&
          entry.account.kind != Account::Kind::escrow_granted) {
        EXPECT_GE(entry.amount, 0);
      }
    }
    EXPECT_EQ(sum, Funds{}) << round;
  }
}

}  // namespace
}  // namespace weft::ledger
