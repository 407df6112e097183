// StepPacer: a quick device gets several draws in a submit, a slow device one.
#include "engine/llm/gpu/step_pacer.h"

#include <gtest/gtest.h>

namespace weft::llm {
namespace {

using namespace std::chrono_literals;

// The number of steps after `draws` draws that took `each`, with `under_way` others all the time.
std::size_t steps_after(StepPacer& pacer, int draws, std::chrono::microseconds each,
                        std::size_t under_way = 4) {
  static StepPacer::Clock::time_point now{};
  for (int i = 0; i < draws; ++i) pacer.taken(under_way, now += each);
  return pacer.steps();
}

TEST(StepPacer, SubmitsOneDrawUntilItKnowsHowQuickTheyAre) {
  StepPacer pacer;

  EXPECT_EQ(pacer.steps(), 1U);
  EXPECT_EQ(steps_after(pacer, 1, 500us), 1U);
  EXPECT_EQ(steps_after(pacer, 1, 500us), 4U);
}

TEST(StepPacer, GoesBackToOneWhereFourTakeLongerThanAListenerNotices) {
  StepPacer pacer;
  ASSERT_EQ(steps_after(pacer, 2, 1999us), 4U);

  EXPECT_EQ(steps_after(pacer, 8, 2000us), 1U);
  EXPECT_EQ(steps_after(pacer, 8, 30000us), 1U);
  EXPECT_EQ(steps_after(pacer, 8, 100us), 4U);
}

TEST(StepPacer, DoesNotCountPausesInWhichNothingWasUnderWay) {
  StepPacer pacer;
  ASSERT_EQ(steps_after(pacer, 2, 500us), 4U);

  EXPECT_EQ(steps_after(pacer, 1, 500us, 0), 4U);
  EXPECT_EQ(steps_after(pacer, 1, 10s), 4U) << "the first after a pause";
}

}  // namespace
}  // namespace weft::llm
