#include "decisions/trust/attacks/event_queue.h"

#include <gtest/gtest.h>

namespace weft::trust::attacks {
namespace {

TEST(EventQueue, GivesEventsByTimeAndThoseOfOneTimeAsTheyWereAdded) {
  EventQueue queue;
  queue.later(2, {.kind = Event::Kind::ends, .worker = 1});
  queue.later(1, {.kind = Event::Kind::ends, .worker = 2});
  queue.later(2, {.kind = Event::Kind::ends, .worker = 3});
  ASSERT_EQ(queue.next_time(), 1);
  EXPECT_FALSE(queue.take_due()) << "its time has not come";

  queue.advance_to(2);

  for (const std::uint32_t worker : {2U, 1U, 3U}) EXPECT_EQ(queue.take_due()->worker, worker);
  EXPECT_FALSE(queue.take_due());
  EXPECT_FALSE(queue.next_time());
}

TEST(EventQueue, DelaysCountFromNowAndTimeDoesNotRunBackwards) {
  EventQueue queue;
  queue.advance_to(10);
  queue.advance_to(4);
  queue.later(1, {.kind = Event::Kind::joins});

  EXPECT_EQ(queue.time(), 10);
  EXPECT_EQ(queue.next_time(), 11);
}

}  // namespace
}  // namespace weft::trust::attacks
