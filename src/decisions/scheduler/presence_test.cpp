// Tests that a worker's arrivals and departures predict its stay: by the hour of the day, with less
// weight after some days, and cautiously for strangers. The second half tests which worker gets a
// long task.
#include "decisions/scheduler/presence.h"

#include <gtest/gtest.h>

#include <cmath>

#include "decisions/scheduler/test_network.h"

namespace weft::scheduler {
namespace {

constexpr UnixMillis hour = 3'600'000;
constexpr UnixMillis day = 24 * hour;

// The presence of a worker that comes at eight and leaves at three minutes past six, for `days`
// days in a row.
Presence commuter(int days) {
  Presence presence;
  for (int i = 0; i < days; ++i) {
    presence.arrived(i * day + 8 * hour);
    presence.left(i * day + 18 * hour + 180'000);
  }
  return presence;
}

TEST(Presence, ExpectsAnHourOfAStranger) {
  Presence presence;
  presence.arrived(0);
  EXPECT_GT(presence.stays(0, 30), 0.98);
  EXPECT_LT(presence.stays(0, 7200), 0.4);
  EXPECT_EQ(presence.stays(0, 0), 1);
}

TEST(Presence, LearnsThatAWorkerLeavesEveryEvening) {
  Presence presence = commuter(7);
  presence.arrived(7 * day + 8 * hour);

  EXPECT_GT(presence.stays(7 * day + 10 * hour, 3600), 0.9);
  EXPECT_LT(presence.stays(7 * day + 17 * hour + 45 * 60'000, 3600), 0.2);
  EXPECT_GT(presence.stays(7 * day + 17 * hour + 45 * 60'000, 60), 0.9)
      << "a minute is not a risk yet";
}

TEST(Presence, TrustsAWorkerThatStays) {
  Presence presence;
  presence.arrived(0);
  EXPECT_GT(presence.stays(7 * day, 3600), 0.97);
}

TEST(Presence, ForgetsWhatWasLongAgo) {
  Presence presence = commuter(7);
  presence.arrived(8 * day);
  const double before = presence.stays(8 * day + 17 * hour + 45 * 60'000, 3600);
  const double after = presence.stays(30 * day + 17 * hour + 45 * 60'000, 3600);
  EXPECT_LT(before, 0.25);
  EXPECT_GT(after, 0.9);
}

TEST(Presence, ComesBackFromTheStoreAsItWas) {
  Presence presence = commuter(7);
  Presence again;
  again.restore(presence.seen());
  EXPECT_NEAR(again.stays(7 * day + 17 * hour, 3600), presence.stays(7 * day + 17 * hour, 3600),
              1e-5);
  auto wrong = presence.seen();
  wrong[3].departures = -5;
  again.restore(wrong);
  EXPECT_EQ(again.seen()[3].departures, 0);
}

TEST(Presence, IsCalibratedWhereDeparturesArePoisson) {
  // Sessions last 20 minutes on average, so of the 5-minute tasks that begin at a random moment a
  // share of exp(-1/4) ends in time.
  std::uint64_t state = 7;
  const auto uniform = [&] {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return (static_cast<double>(state >> 11) + 0.5) / 9007199254740992.0;
  };
  Presence presence;
  UnixMillis time = 0;
  for (int i = 0; i < 2000; ++i) {
    presence.arrived(time);
    time += static_cast<UnixMillis>(-std::log(uniform()) * 1200 * 1000);
    presence.left(time);
    time += 60'000;
  }
  presence.arrived(time);
  EXPECT_NEAR(presence.stays(time, 300), std::exp(-0.25), 0.06);
}

// Two workers: a fast one that leaves every evening, and a slow one that stays. Times are seconds
// since some midnight.
struct Week {
  static constexpr double evening = 7 * 86'400 + 17.75 * 3600;
  static constexpr double morning = 7 * 86'400 + 10 * 3600;
  static Settings settings() {
    Settings chosen;
    chosen.wall_max = std::chrono::hours(3);
    chosen.beat = std::chrono::hours(24);
    chosen.speculation.enabled = false;
    return chosen;
  }
  Scheduler scheduler{settings()};

  Week() {
    scheduler.histories().set_clock(at(0), 0);
    EXPECT_TRUE(scheduler.add_worker(native_worker(1, 1), at(0)).has_value());
    for (int i = 0; i < 7; ++i) {
      EXPECT_TRUE(scheduler.add_worker(native_worker(2, 2), at(i * 86'400 + 8 * 3600)).has_value());
      scheduler.remove_worker(key_of(2), Departure::left, at(i * 86'400 + 18 * 3600 + 180));
    }
    EXPECT_TRUE(scheduler.add_worker(native_worker(2, 2), at(7 * 86'400 + 8 * 3600)).has_value());
  }
  // The worker that gets a job of one task that takes `seconds` on the fast worker.
  std::optional<PublicKey> who_gets(std::uint64_t number, double seconds, double time) {
    EXPECT_TRUE(scheduler.add_job(known_job(number, 1, 1, seconds * 2 / 10), at(time)).has_value());
    const auto leases = all<Lease>(scheduler.decide(at(time)));
    return leases.empty() ? std::nullopt : std::optional(leases[0].worker);
  }
};

TEST(PredictedLoad, GivesALongTaskToTheFastWorkerInTheMorning) {
  EXPECT_EQ(Week().who_gets(1, 3600, Week::morning), key_of(2));
}

TEST(PredictedLoad, GivesNoLongTaskToAWorkerThatLeavesEveryEvening) {
  EXPECT_EQ(Week().who_gets(1, 3600, Week::evening), key_of(1));
}

TEST(PredictedLoad, GivesItShortTasksAllTheSame) {
  EXPECT_EQ(Week().who_gets(1, 20, Week::evening), key_of(2));
}

TEST(PredictedLoad, WaitsForABetterWorkerAsLongAsALossWouldCost) {
  Week week;
  ASSERT_EQ(week.who_gets(1, 1800, Week::evening), key_of(1));
  EXPECT_EQ(week.who_gets(2, 3600, Week::evening + 60), std::nullopt)
      << "the one who stays is busy for an hour";

  ASSERT_TRUE(week.scheduler.next_deadline().has_value());
  EXPECT_TRUE(all<Lease>(week.scheduler.decide(at(Week::evening + 60 + 3599))).empty());
  const auto leases = all<Lease>(week.scheduler.decide(at(Week::evening + 60 + 3600)));
  ASSERT_EQ(leases.size(), 1U) << "no task waits without end";
  EXPECT_EQ(leases[0].worker, key_of(2));
}

TEST(PredictedLoad, DoesNotWaitIfNoBetterWorkerIsThere) {
  Week week;
  week.scheduler.remove_worker(key_of(1), Departure::left, at(Week::evening));
  EXPECT_EQ(week.who_gets(1, 3600, Week::evening), key_of(2));
}

TEST(PredictedLoad, PassesOverAWorkerThatIsTooSlowForTheBoundOnTime) {
  Scheduler scheduler;
  ASSERT_TRUE(scheduler.add_worker(native_worker(1, 0.01), at(0)).has_value());
  Worker fast = native_worker(2, 1);
  fast.slots = 1;
  ASSERT_TRUE(scheduler.add_worker(fast, at(0)).has_value());
  ASSERT_TRUE(scheduler.add_job(known_job(1, 2, 1, 0.1), at(0))
                  .has_value());  // The task takes a second on one worker and 100 s on the other.

  const auto leases = all<Lease>(scheduler.decide(at(0)));

  ASSERT_EQ(leases.size(), 1U);
  EXPECT_EQ(leases[0].worker, key_of(2));
}

}  // namespace
}  // namespace weft::scheduler
