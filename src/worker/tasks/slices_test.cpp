// Clients share a GPU by their weights whatever they have resident, and memory is never promised
// twice.
#include "worker/tasks/slices.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

namespace weft::worker {
namespace {

constexpr std::uint64_t gib = std::uint64_t{1} << 30;
using std::chrono::milliseconds;

template <class Id>
Id id_of(std::uint64_t number) {
  Id id{};
  std::memcpy(id.bytes.data(), &number, sizeof number);
  return id;
}
PublicKey key_of(std::uint64_t number) { return id_of<PublicKey>(number); }
JobId job_id_of(std::uint64_t number) { return id_of<JobId>(number); }

TaskId task(std::uint64_t number) { return {job_id_of(number), 0}; }

TEST(Slices, KeepPartitionsWithinTheMemoryAndTheSlots) {
  Slices slices({.slots = 2, .memory_bytes = 4 * gib});
  EXPECT_TRUE(
      slices.admit({.task = task(1), .client = key_of(1), .memory_bytes = 3 * gib}).has_value());
  EXPECT_EQ(
      slices.admit({.task = task(2), .client = key_of(2), .memory_bytes = 2 * gib}).error().code,
      ErrorCode::resource_exhausted);
  EXPECT_EQ(slices.admit({.task = task(1), .client = key_of(1), .memory_bytes = 0}).error().code,
            ErrorCode::already_exists);
  EXPECT_TRUE(
      slices.admit({.task = task(3), .client = key_of(2), .memory_bytes = gib}).has_value());
  EXPECT_EQ(slices.admit({.task = task(4), .client = key_of(2), .memory_bytes = 0}).error().code,
            ErrorCode::resource_exhausted);
  EXPECT_EQ(slices.memory_used(), 4 * gib);

  slices.end(task(1));
  EXPECT_EQ(slices.memory_used(), gib);
  EXPECT_TRUE(
      slices.admit({.task = task(2), .client = key_of(2), .memory_bytes = 2 * gib}).has_value());
}

TEST(Slices, GiveAClientNoMoreTimeForHavingMoreTasks) {
  Slices slices({.slots = 8, .memory_bytes = gib});
  for (std::uint64_t i = 1; i <= 5; ++i)
    ASSERT_TRUE(slices.admit({.task = task(i), .client = key_of(1)}).has_value());
  ASSERT_TRUE(slices.admit({.task = task(9), .client = key_of(2)}).has_value());
  std::map<TaskId, int> turns;
  for (int i = 0; i < 100; ++i) {
    const auto slice = slices.next();
    ++turns[slice->task];
    slices.ran(slice->task, slice->length);
  }
  EXPECT_EQ(turns[task(9)], 50);
  for (std::uint64_t i = 1; i <= 5; ++i) EXPECT_EQ(turns[task(i)], 10);
}

TEST(Slices, CountWhatADispatchReallyTook) {
  Slices slices({.slots = 8, .memory_bytes = gib});
  ASSERT_TRUE(slices.admit({.task = task(1), .client = key_of(1)}).has_value());
  ASSERT_TRUE(slices.admit({.task = task(2), .client = key_of(2)}).has_value());
  std::map<TaskId, Duration> had;
  for (int i = 0; i < 400; ++i) {
    const auto slice = slices.next();
    const Duration took = slice->task == task(1)
                              ? milliseconds(300)
                              // The dispatches of task 1 cannot be stopped in time.
                              : milliseconds(50);
    had[slice->task] += took;
    slices.ran(slice->task, took);
  }
  EXPECT_LE(had[task(1)] > had[task(2)] ? had[task(1)] - had[task(2)] : had[task(2)] - had[task(1)],
            milliseconds(350));
}

TEST(Slices, FollowWeightsAndStarveNoTaskWhileTasksComeAndGo) {
  for (std::uint64_t seed = 1; seed <= 30 && !HasFailure(); ++seed) {
    std::mt19937_64 random(seed);
    Slices slices({.slots = 12, .memory_bytes = 12 * gib});
    // Clients 1 and 2 always have a task; the weight of the second is three times the first's.
    // Others come and go.
    ASSERT_TRUE(
        slices.admit({.task = task(1), .client = key_of(1), .memory_bytes = gib}).has_value());
    ASSERT_TRUE(
        slices.admit({.task = task(2), .client = key_of(2), .memory_bytes = gib, .weight = 3})
            .has_value());
    std::map<TaskId, double> had;
    std::uint64_t next = 10;
    std::vector<TaskId> guests;
    double since_first = 0;
    for (int i = 0; i < 3000; ++i) {
      if (random() % 5 == 0) {
        const TaskId guest = task(next++);
        if (slices.admit({.task = guest,
                          .client = key_of(3 + random() % 4),
                          .memory_bytes = random() % (2 * gib)}))
          guests.push_back(guest);
      }
      if (!guests.empty() && random() % 5 == 0) {
        slices.end(guests.front());
        guests.erase(guests.begin());
      }
      ASSERT_LE(slices.memory_used(), 12 * gib);
      const auto slice = slices.next();
      const double took = 0.02 + static_cast<double>(random() % 60) / 1000;
      had[slice->task] += took;
      since_first = slice->task == task(1) ? 0 : since_first + took;
      EXPECT_LT(since_first, 2) << "seed " << seed << ": client 1 starves";
      slices.ran(slice->task,
                 std::chrono::duration_cast<Duration>(std::chrono::duration<double>(took)));
    }
    EXPECT_NEAR(had[task(2)], 3 * had[task(1)], 0.3) << "seed " << seed;
  }
}

}  // namespace
}  // namespace weft::worker
