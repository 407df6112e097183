#include "decisions/scheduler/worker_histories.h"

#include <gtest/gtest.h>

namespace weft::scheduler {
namespace {

constexpr Instant start{};

PublicKey key(std::uint8_t number) {
  PublicKey made;
  made.bytes[0] = number;
  return made;
}

TEST(WorkerHistories, AWorkerThatLeftIsRememberedAsItWas) {
  WorkerHistories histories;
  (void)histories.arrives(key(1), true, start);
  histories.departs(key(1), start + std::chrono::minutes(5));
  EXPECT_TRUE(histories.trusted(key(1)));
  EXPECT_NE(histories.presence(key(1)), nullptr);
  EXPECT_EQ(histories.take_moved(), std::vector{key(1)});
  EXPECT_TRUE(histories.take_moved().empty());
  EXPECT_FALSE(histories.trusted(key(2)));
  EXPECT_EQ(histories.presence(key(2)), nullptr);
}

TEST(WorkerHistories, TheOneThatLeftFirstIsForgottenFirst) {
  WorkerHistories histories(2);
  for (std::uint8_t number = 1; number <= 3; ++number) {
    (void)histories.arrives(key(number), false, start);
    histories.departs(key(number), start);
  }
  EXPECT_EQ(histories.take_forgotten(), std::vector{key(1)});
  // The second departure counts, not the first one.
  (void)histories.arrives(key(2), false, start);
  histories.departs(key(2), start);
  (void)histories.arrives(key(4), false, start);
  histories.departs(key(4), start);
  EXPECT_EQ(histories.take_forgotten(), std::vector{key(3)});
  EXPECT_NE(histories.presence(key(2)), nullptr);
}

TEST(WorkerHistories, AConnectedWorkerIsNotForgotten) {
  WorkerHistories histories(1);
  (void)histories.arrives(key(1), true, start);
  histories.forget(key(1));
  EXPECT_TRUE(histories.trusted(key(1)));
  histories.departs(key(1), start);
  histories.forget(key(1));
  EXPECT_FALSE(histories.trusted(key(1)));
  EXPECT_EQ(histories.take_forgotten(), std::vector{key(1)});
}

TEST(WorkerHistories, WhatWasStoredReplacesNothing) {
  WorkerHistories histories;
  std::array<Presence::Hour, Presence::hours> seen{};
  (void)histories.arrives(key(1), true, start);
  histories.restore(key(1), seen);
  histories.departs(key(1), start);  // The worker was connected and stays so.
  histories.restore(key(2), seen);
  histories.forget(key(2));  // A restored worker is not connected.
  EXPECT_EQ(histories.take_forgotten(), std::vector{key(2)});
}

TEST(WorkerHistories, HoursFollowTheWallClock) {
  WorkerHistories histories;
  histories.set_clock(start + std::chrono::seconds(10), 1'000'000);
  EXPECT_EQ(histories.unix_at(start + std::chrono::seconds(12)), 1'002'000);
  EXPECT_EQ(histories.unix_at(start), 990'000);
}

}  // namespace
}  // namespace weft::scheduler
