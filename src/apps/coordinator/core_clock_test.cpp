// Tests that a coordinator that was stopped for a while does not take its workers for silent.
#include "apps/coordinator/ingest/core_clock.h"

#include <gtest/gtest.h>

#include "decisions/scheduler/test_network.h"

namespace weft::coordinator {
namespace {

using scheduler::all;
using scheduler::at;

// The number of workers that are lost if the coordinator stops for `pause` seconds, while its
// worker, which holds a lease, sends a heartbeat each second.
std::size_t lost_after(double pause, const CoreClock::Settings& settings) {
  CoreClock clock(settings);
  scheduler::Scheduler queue;
  EXPECT_TRUE(queue.add_worker(scheduler::native_worker(1), clock.turn(at(0))).has_value());
  EXPECT_TRUE(queue.add_job(scheduler::small_job(1, 4), clock.turn(at(0))).has_value());
  EXPECT_EQ(all<scheduler::Lease>(queue.decide(clock.turn(at(0)))).size(), 1U);
  queue.heard(scheduler::key_of(1), clock.turn(at(1)));
  EXPECT_TRUE(all<scheduler::WorkerLost>(queue.decide(clock.turn(at(1)))).empty());
  // Heartbeats that arrive during the pause are read only after the next turn.
  const std::size_t lost =
      all<scheduler::WorkerLost>(queue.decide(clock.turn(at(1 + pause)))).size();
  queue.heard(scheduler::key_of(1), clock.turn(at(1.1 + pause)));
  return lost;
}

TEST(CoreClock, StandsStillWithItsThread) {
  EXPECT_EQ(lost_after(60, {}), 0U);
  EXPECT_EQ(lost_after(60, {.turn_max = Duration(0)}), 1U) << "without it";
}

TEST(CoreClock, PassesAsTheMachinesDoes) {
  CoreClock clock;
  for (int i = 0; i <= 10; ++i) EXPECT_EQ(clock.turn(at(i)), at(i));
  EXPECT_EQ(clock.turn(at(30)), at(11.5));
  EXPECT_EQ(clock.turn(at(31)), at(12.5));
  EXPECT_EQ(clock.of_machine(at(13.5)), at(32));
  EXPECT_EQ(clock.of_machine(Instant::max()), Instant::max());
}

}  // namespace
}  // namespace weft::coordinator
