// The order of the event queue, its bound, and that no accepted event is lost at the end.
#include "platform/runtime/event_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

namespace weft::runtime {
namespace {

using testing::ElementsAre;

TEST(EventQueue, GivesEventsInTheirOrderAndAtMostSoMany) {
  EventQueue<int> queue(10);
  for (const int event : {1, 2, 3}) ASSERT_TRUE(queue.post(event));
  std::vector<int> taken;

  EXPECT_FALSE(queue.take(taken, std::nullopt, 2));
  EXPECT_THAT(taken, ElementsAre(1, 2));
  EXPECT_FALSE(queue.take(taken, std::nullopt, 2));
  EXPECT_THAT(taken, ElementsAre(1, 2, 3)) << "appended";
}

TEST(EventQueue, RefusesWhatIsOverItsBoundButNotWhatMustNotBeDropped) {
  EventQueue<int> queue(2);
  ASSERT_TRUE(queue.post(1));
  ASSERT_TRUE(queue.post(2));

  EXPECT_FALSE(queue.post(3));
  queue.post_always(4);

  std::vector<int> taken;
  EXPECT_FALSE(queue.take(taken, std::nullopt, 10));
  EXPECT_THAT(taken, ElementsAre(1, 2, 4));
}

TEST(EventQueue, EndsOnlyWhenNothingWaits) {
  EventQueue<int> queue(10);
  for (const int event : {1, 2, 3}) ASSERT_TRUE(queue.post(event));
  queue.end();
  EXPECT_FALSE(queue.post(4));
  queue.post_always(5);
  std::vector<int> taken;

  EXPECT_FALSE(queue.take(taken, std::nullopt, 3));
  EXPECT_TRUE(queue.take(taken, std::nullopt, 3));
  EXPECT_THAT(taken, ElementsAre(1, 2, 3, 5));
  EXPECT_TRUE(queue.take(taken, std::nullopt, 3)) << "it does not wait any more";
}

TEST(EventQueue, ReturnsAtItsDeadlineWithoutAnEvent) {
  EventQueue<int> queue(10);
  std::vector<int> taken;

  EXPECT_FALSE(queue.take(taken, now(), 10));
  EXPECT_THAT(taken, ElementsAre());
}

TEST(EventQueue, WakesItsThreadForEachEventAndForItsEnd) {
  EventQueue<int> queue(100);
  std::vector<int> handled;
  std::thread thread([&] {
    std::vector<int> events;
    for (bool ended = false; !ended;) {
      ended = queue.take(events, std::nullopt, 7);
      handled.insert(handled.end(), events.begin(), events.end());
      events.clear();
    }
  });
  std::vector<int> posted;
  for (int event = 0; event < 1000; ++event) {
    queue.post_always(event);
    posted.push_back(event);
  }
  queue.end();
  thread.join();

  EXPECT_EQ(handled, posted);
}

}  // namespace
}  // namespace weft::runtime
