// Tests that urgent tasks get a place soon, and that the long tasks that make way lose hardly any
// work and are not preempted again and again.
#include "decisions/scheduler/preemption.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "decisions/scheduler/test_network.h"

namespace weft::scheduler {
namespace {

const TaskId film{job_id_of(1), 0};
const TaskId other{job_id_of(1), 1};

Checkpoint checkpoint(double done) { return {.blob = Hash{}, .done = done}; }
Preemption::Urgent urgent(double score = 0.9) {
  return {.score = score, .starts_in = Duration::max(), .fits = {}};
}

TEST(Preemption, StopsATaskAtOnceWhereLittleIsLostAndKeepsItsCheckpoint) {
  Preemption preemption;
  preemption.began(film, key_of(1), {.score = 0.3, .seconds = 1000}, at(0));
  EXPECT_FALSE(preemption.checkpointed(film, key_of(1), checkpoint(0.1), at(100)));

  const auto way = preemption.make_way(urgent(), at(120));

  ASSERT_TRUE(way.now.has_value());
  EXPECT_EQ(way.now->victim, film);
  EXPECT_EQ(way.now->worker, key_of(1));
  EXPECT_EQ(way.now->from, checkpoint(0.1));
  EXPECT_NEAR(way.now->lost, 0.02, 1e-9);
  EXPECT_EQ(preemption.resume_from(film), checkpoint(0.1));
  EXPECT_FALSE(preemption.make_way(urgent(), at(200)).now) << "it does not run any more";
}

TEST(Preemption, WaitsForTheNextCheckpointWhereMuchWouldBeLost) {
  Preemption preemption;
  preemption.began(film, key_of(1), {.score = 0.3, .seconds = 1000}, at(0));
  const auto way = preemption.make_way(urgent(), at(80));
  EXPECT_FALSE(way.now.has_value());
  ASSERT_TRUE(way.later.has_value());
  EXPECT_EQ(way.later->victim, film);
  EXPECT_FALSE(preemption.make_way(urgent(), at(85)).later) << "its place is taken";

  EXPECT_FALSE(preemption.checkpointed(film, key_of(2), checkpoint(0.1), at(99)))
      << "not the one who runs it";
  const auto stopped = preemption.checkpointed(film, key_of(1), checkpoint(0.1), at(100));

  ASSERT_TRUE(stopped.has_value());
  EXPECT_EQ(stopped->lost, 0);
  EXPECT_EQ(stopped->from, checkpoint(0.1));
}

TEST(Preemption, TakesTheLeastWorthAndOnlyWhereTheUrgentOneFits) {
  Preemption preemption;
  preemption.began(film, key_of(1), {.score = 0.3, .seconds = 10'000}, at(0));
  preemption.began(other, key_of(2), {.score = 0.2, .seconds = 10'000}, at(0));

  auto only_first = urgent();
  only_first.fits = [](const PublicKey& worker, const TaskId&) { return worker == key_of(1); };
  EXPECT_EQ(preemption.make_way(only_first, at(20)).now->victim, film);
  EXPECT_EQ(preemption.make_way(urgent(), at(20)).now->victim, other);
}

TEST(Preemption, LeavesAloneWhoIsWorthAsMuchOrAlmostDoneOrJustBegan) {
  Preemption preemption;
  preemption.began(film, key_of(1), {.score = 0.5, .seconds = 1000}, at(0));
  EXPECT_FALSE(preemption.make_way(urgent(0.6), at(20)).now) << "too little difference";
  EXPECT_FALSE(preemption.make_way(urgent(), at(5)).now) << "just began";
  EXPECT_FALSE(preemption.make_way(urgent(), at(999)).later) << "almost done";
  auto soon = urgent();
  soon.starts_in = std::chrono::seconds(1);
  EXPECT_FALSE(preemption.make_way(soon, at(20)).now) << "it starts elsewhere at once";
  EXPECT_TRUE(preemption.make_way(urgent(), at(20)).now);
}

TEST(Preemption, RefusesCheckpointsThatGoBackOrCannotBe) {
  Preemption preemption;
  preemption.began(film, key_of(1), {.score = 0.3, .seconds = 1000}, at(0));
  preemption.checkpointed(film, key_of(1), checkpoint(0.5), at(500));
  preemption.checkpointed(film, key_of(1), checkpoint(0.4), at(510));
  preemption.checkpointed(film, key_of(1), checkpoint(std::nan("")), at(510));
  preemption.checkpointed(film, key_of(1), checkpoint(7), at(510));
  EXPECT_EQ(preemption.resume_from(film), checkpoint(0.5));
  preemption.lost(film);
  EXPECT_EQ(preemption.resume_from(film), checkpoint(0.5)) << "a lost lease does not lose it";
  preemption.ended(film);
  EXPECT_EQ(preemption.resume_from(film), std::nullopt);
}

// One worker runs one long task that stores a checkpoint every few seconds, while urgent tasks come
// at random without end.
struct Hour {
  double long_done_at = 0;
  std::uint32_t preemptions = 0;
  double lost = 0;         // The share of the long task's work that was really done again.
  double urgent_wait = 0;  // Average wait of urgent tasks in seconds.
  int urgents = 0;
};
Hour run(std::uint64_t seed, bool with_preemption) {
  constexpr double work = 600;
  std::mt19937_64 random(seed);
  const double every = 5 + static_cast<double>(random() % 40);
  // Seconds until the next urgent task.
  const double pause = 15 + static_cast<double>(random() % 45);
  Preemption preemption;
  Hour hour;
  double time = 0;
  double progress = 0;  // Seconds of the long task's work that are done.
  double stored = 0;
  double urgent_left = 0;
  std::vector<double> waiting;
  double next_urgent = pause;
  bool running = false;
  double waited = 0;
  while (hour.long_done_at == 0 && time < 36'000) {
    constexpr double step = 0.25;
    if (time >= next_urgent) {
      waiting.push_back(time);
      next_urgent += pause * (0.5 + static_cast<double>(random() % 1000) / 1000);
    }
    const auto stop = [&](const Preempt& preempt) {
      running = false;
      hour.lost += (progress - preempt.from.value_or(Checkpoint{}).done * work) / work;
      progress = preempt.from.value_or(Checkpoint{}).done * work;
      stored = progress;
    };
    if (running && !waiting.empty() && with_preemption) {
      if (const auto way = preemption.make_way(urgent(), at(time)); way.now) stop(*way.now);
    }
    if (!running && urgent_left <= 0 && !waiting.empty()) {
      urgent_left = 4;
      waited += time - waiting.front();
      ++hour.urgents;
      waiting.erase(waiting.begin());
    }
    if (!running && urgent_left <= 0) {
      running = true;
      preemption.began(film, key_of(1), {.score = 0.3, .seconds = work}, at(time));
    }
    time += step;
    if (!running) {
      urgent_left -= step;
      continue;
    }
    progress += step;
    if (progress >= work) hour.long_done_at = time;
    if (progress - stored < every) continue;
    stored = progress;
    if (const auto preempt =
            preemption.checkpointed(film, key_of(1), checkpoint(progress / work), at(time)))
      stop(*preempt);
  }
  hour.preemptions = preemption.preemptions(film);
  hour.urgent_wait = hour.urgents == 0 ? 0 : waited / hour.urgents;
  return hour;
}

TEST(Preemption, LosesAtMostAFewPercentAndDoesNotThrashHoweverManyUrgentOnesCome) {
  double wait_with = 0;
  double wait_without = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const Hour hour = run(seed, true);
    ASSERT_GT(hour.long_done_at, 0) << "seed " << seed << ": the long task starves";
    EXPECT_LE(hour.lost, 0.05 + 1e-6) << "seed " << seed;
    // The bound is log2(600 / 10 + 1), rounded up.
    EXPECT_LE(hour.preemptions, 6U) << "seed " << seed;
    EXPECT_LT(hour.long_done_at, 600 * 1.05 + 4.25 * (hour.urgents + 1)) << "seed " << seed;
    const Hour plain = run(seed, false);
    wait_with += hour.urgent_wait;
    wait_without += plain.urgents == 0 ? 600 : plain.urgent_wait;
    EXPECT_GT(hour.preemptions, 0U) << "seed " << seed;
  }
  EXPECT_LT(wait_with, wait_without / 2) << "and it helps";
}

}  // namespace
}  // namespace weft::scheduler
