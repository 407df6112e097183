// Tests that a trap is never given to a worker that knows the answer, and that the pool stays
// small.
#include "decisions/trust/traps.h"

#include <gtest/gtest.h>

namespace weft::trust {
namespace {

PublicKey key(std::uint32_t number) {
  PublicKey key;
  key.bytes[0] = static_cast<std::uint8_t>(number);
  key.bytes[1] = static_cast<std::uint8_t>(number >> 8);
  return key;
}
Trap trap(std::uint32_t index) {
  return {.task = {.job = {}, .index = index}, .root = {}, .value = 1};
}

TEST(Traps, AreNotGivenToWhoKnowsThemAndNotTwice) {
  TrapPool pool;
  pool.add(trap(1), {key(1)});

  EXPECT_FALSE(pool.take(key(1), 0).has_value());
  EXPECT_TRUE(pool.take(key(2), 0).has_value());
  EXPECT_FALSE(pool.take(key(2), 0).has_value());
}

TEST(Traps, TheChoiceFollowsTheDraw) {
  TrapPool pool;
  for (std::uint32_t i = 0; i < 5; ++i) pool.add(trap(i), {});
  EXPECT_EQ(pool.take(key(1), 3)->task.index, 3U);
  EXPECT_EQ(pool.take(key(1), 13)->task.index, 4U) << "3 is known to it by now";
}

TEST(Traps, AreSpentWhenManyKnowThem) {
  TrapPool pool;
  pool.add(trap(1), {});
  for (std::uint32_t i = 0; i < TrapPool::workers_max; ++i)
    EXPECT_TRUE(pool.take(key(i), i).has_value());
  EXPECT_EQ(pool.size(), 0U);
}

TEST(Traps, TheOldestGoFirstAndThoseOfAJobWithIt) {
  TrapPool pool;
  for (std::uint32_t i = 0; i <= TrapPool::traps_max; ++i) pool.add(trap(i), {});
  EXPECT_EQ(pool.size(), TrapPool::traps_max);
  EXPECT_EQ(pool.take(key(1), 0)->task.index, 1U);
  pool.remove_job({});
  EXPECT_EQ(pool.size(), 0U);
}

}  // namespace
}  // namespace weft::trust
