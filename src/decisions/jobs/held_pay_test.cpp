#include "decisions/jobs/held_pay.h"

#include <gtest/gtest.h>

#include <chrono>

namespace weft::jobs {
namespace {

using namespace std::chrono_literals;

PublicKey key_of(std::uint8_t number) {
  PublicKey key;
  key.bytes[0] = number;
  return key;
}
HeldPays::Entry pay_of(std::uint8_t worker, MicroCredits amount) {
  return {.worker = key_of(worker),
          .owner = OwnerId{{key_of(worker).bytes}},
          .funds = {.free = amount, .granted = 0},
          .parts = {}};
}
constexpr Instant start = Instant(1h);

TEST(HeldPay, IsFreeWhenItsTimeHasComeAndOnce) {
  HeldPays held;
  held.add(pay_of(1, 5), start + 90s);
  EXPECT_TRUE(held.take_free(start + 90s).empty()) << "up to the next minute";
  EXPECT_EQ(held.next(), start + 120s);

  const auto taken = held.take_free(start + 120s);

  ASSERT_EQ(taken.size(), 1U);
  EXPECT_EQ(taken[0].funds.free, 5);
  EXPECT_TRUE(held.take_free(start + 1h).empty());
  EXPECT_FALSE(held.next().has_value());
}

TEST(HeldPay, OfOneWorkerAndMinuteIsOneEntry) {
  HeldPays held;
  for (int i = 0; i < 100; ++i) held.add(pay_of(1, 1), start + 30s);
  held.add(pay_of(2, 7), start + 30s);

  const auto taken = held.take_free(start + 1min);

  ASSERT_EQ(taken.size(), 2U);
  EXPECT_EQ(taken[0].funds.free + taken[1].funds.free, 107);
}

TEST(HeldPay, OfUnknownWorkersIsEachOwnersOwn) {
  HeldPays held;
  for (std::uint8_t owner = 1; owner <= 2; ++owner) {
    HeldPays::Entry entry = pay_of(owner, MicroCredits{owner} * 10);
    entry.worker = {};
    held.add(entry, start + 30s);
  }

  const auto taken = held.take_of(key_of(1), OwnerId{{key_of(1).bytes}});

  ASSERT_EQ(taken.size(), 1U);
  EXPECT_EQ(taken[0].funds.free, 10);
  const auto rest = held.take_free(start + 1min);
  ASSERT_EQ(rest.size(), 1U);
  EXPECT_EQ(rest[0].funds.free, 20);
  EXPECT_EQ(rest[0].owner, OwnerId{{key_of(2).bytes}});
}

TEST(HeldPay, KnowsTheTasksOfAMinute) {
  HeldPays held;
  for (std::uint32_t index = 0; index < 3; ++index) {
    HeldPays::Entry entry = pay_of(1, 2);
    entry.parts = {{.paid = std::make_shared<PaidTask>(PaidTask{.task = {.job = {}, .index = index},
                                                                .client = {},
                                                                .manifest = nullptr,
                                                                .root = {},
                                                                .outputs = {}}),
                    .funds = entry.funds}};
    held.add(entry, start + 30s);
  }
  held.add(pay_of(1, 5), start + 30s);  // Pay for an unknown task.

  const auto taken = held.take_of(key_of(1), OwnerId{{key_of(1).bytes}});

  ASSERT_EQ(taken.size(), 1U);
  EXPECT_EQ(taken[0].funds.free, 11);
  ASSERT_EQ(taken[0].parts.size(), 3U);
  for (std::uint32_t index = 0; index < 3; ++index) {
    EXPECT_EQ(taken[0].parts[index].paid->task.index, index);
    EXPECT_EQ(taken[0].parts[index].funds.free, 2);
  }
}

TEST(HeldPay, OfAConvictedWorkerIsTakenAndOthersStay) {
  HeldPays held;
  held.add(pay_of(1, 5), start);
  held.add(pay_of(1, 6), start + 5min);
  held.add(pay_of(2, 7), start);
  HeldPays::Entry before_a_restart = pay_of(1, 8);
  before_a_restart.worker = {};
  held.add(before_a_restart, start);

  MicroCredits sum = 0;
  for (const auto& each : held.take_of(key_of(1), OwnerId{{key_of(1).bytes}}))
    sum += each.funds.free;

  EXPECT_EQ(sum, 19);
  EXPECT_EQ(held.take_free(start + 1h).size(), 1U);
}

}  // namespace
}  // namespace weft::jobs
