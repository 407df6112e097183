// The measurements of a shard: its share of the time, and its quickest recent pass.
#include "worker/inference/meter.h"

#include <gtest/gtest.h>

namespace weft::worker {
namespace {

using namespace std::chrono_literals;

TEST(Meter, CountsTimeOnceThoughCallsOverlap) {
  Meter meter;
  const Instant start{};
  meter.work(true, start + 100ms);
  meter.work(true, start + 150ms);
  meter.work(false, start + 200ms);
  meter.work(false, start + 300ms);
  EXPECT_EQ(meter.take_busy(start + 500ms), 200ms);
  EXPECT_EQ(meter.take_busy(start + 600ms), 0ms);
  meter.work(true, start + 700ms);
  EXPECT_EQ(meter.take_busy(start + 800ms), 100ms) << "what is under way counts as far as it is";
  meter.work(false, start + 850ms);
  EXPECT_EQ(meter.take_busy(start + 900ms), 50ms);
}

TEST(Meter, SaysTheQuickestPassOfLateAndForgetsIt) {
  Meter meter;
  Instant now{};
  now += 1h;
  EXPECT_FALSE(meter.pace(now).has_value());
  for (const Duration took : {30ms, 4ms, 9ms}) {
    meter.pass(true, now);
    meter.pass(false, now += took);
  }
  EXPECT_EQ(meter.pace(now), 4ms);
  // Begins two passes that overlap, so that they slow each other down.
  meter.pass(true, now);
  meter.pass(true, now);
  meter.pass(false, now += 1ms);
  meter.pass(false, now);
  EXPECT_EQ(meter.pace(now), 4ms);
  // The passes have become slower.
  for (int i = 0; i < 80; ++i) {
    meter.pass(true, now);
    meter.pass(false, now += 100ms);
  }
  EXPECT_EQ(meter.pace(now), 100ms);
  EXPECT_FALSE(meter.pace(now + 10s).has_value());
}

}  // namespace
}  // namespace weft::worker
