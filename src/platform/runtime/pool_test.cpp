// The pool keeps the order of one key's work, and its end waits for all work.
#include "platform/runtime/pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>

namespace weft::runtime {
namespace {

TEST(Pool, RunsTheWorkOfOneKeyInOrderAndAllOfItBeforeItEnds) {
  constexpr int count = 1000;
  std::array<std::vector<int>, 3> done;  // Indexed by key; one thread runs all work of a key.
  {
    Pool pool({.threads = 2});
    for (int i = 0; i < count; ++i) {
      for (std::size_t key = 0; key < done.size(); ++key)
        ASSERT_TRUE(pool.post(key, [&done, key, i] { done[key].push_back(i); }));
    }
  }

  std::vector<int> wanted(count);
  for (int i = 0; i < count; ++i) wanted[static_cast<std::size_t>(i)] = i;
  for (const auto& one : done) EXPECT_EQ(one, wanted);
}

TEST(Pool, RefusesWorkOverItsBound) {
  std::promise<void> begun, goes_on;
  std::atomic<int> done = 0;
  {
    Pool pool({.threads = 1, .queue_max = 2});
    ASSERT_TRUE(pool.post(0, [&] {
      begun.set_value();
      goes_on.get_future().wait();
      ++done;
    }));
    begun.get_future().wait();  // The work runs and is no longer queued.
    EXPECT_TRUE(pool.post(0, [&] { ++done; }));
    EXPECT_TRUE(pool.post(0, [&] { ++done; }));
    EXPECT_FALSE(pool.post(0, [&] { ++done; }));
    goes_on.set_value();
  }

  EXPECT_EQ(done, 3);
}

}  // namespace
}  // namespace weft::runtime
