// Tests the number of plans for models for which no worker has room.
#include "decisions/inference/test_desk.h"

namespace weft::inference {
namespace {

// Returns the number of plans in a minute of pulses, for 20 models of 70 MiB and 10 workers of 1
// MiB, on which no model fits.
std::uint64_t plans_of_a_minute(DeskSettings settings) {
  Network network(std::move(settings));
  for (ServingId id = 1; id <= 10; ++id) network.join(id, 1);
  for (int i = 0; i < 20; ++i) network.desk.put_model(card("m" + std::to_string(i)), network.time);
  network.pass(60s);
  EXPECT_TRUE(network.links.empty());
  return network.desk.counters().plans;
}

TEST(DeskPlans, AModelThatFitsNowhereIsPlannedEverMoreSeldom) {
  // The plan of each model is tried again after 0.5, 1, 2, 4, 8, 16 and 32 seconds.
  EXPECT_LE(plans_of_a_minute({}), 20u * 8);
  // Without the back-off the desk plans at every tick, which is ten times a second.
  EXPECT_GE(plans_of_a_minute({.plan_again = {.first = 0s, .longest = 0s}}), 20u * 600);
}

TEST(DeskPlans, WorkersThatComeAndGoMakeAtMostTwoPlansASecond) {
  Network network;
  network.desk.put_model(card("m"), network.time);
  for (int i = 0; i < 100; ++i) {  // Lets ten seconds pass.
    network.join(1, 1);
    network.pass(100ms);
    network.leave(1);
  }
  EXPECT_LE(network.desk.counters().plans, 21u);
}

TEST(DeskPlans, AWorkerWithRoomIsUsedAtOnce) {
  Network network;
  network.join(1, 1);
  network.desk.put_model(card("m"), network.time);
  network.pass(50s);  // The back-off has grown to half a minute.
  ASSERT_EQ(network.desk.models()[0].state, ModelState::no_worker);
  network.join(2, 1000);
  EXPECT_EQ(network.desk.models()[0].state, ModelState::ready);
}

TEST(DeskPlans, MemoryThatBecomesFreeIsUsedWithinASecond) {
  Network network;
  network.join(1, 100);
  network.desk.put_model(card("first"), network.time);
  network.desk.put_model(card("second"), network.time);
  network.pass(50s);
  ASSERT_EQ(network.desk.models()[0].state, ModelState::ready);
  ASSERT_EQ(network.desk.models()[1].state, ModelState::no_worker);
  network.desk.remove_model("first", network.time);
  network.pass(1s);
  EXPECT_EQ(network.desk.models()[0].state, ModelState::ready);
}

TEST(DeskPlans, AnotherFileOfTheSameNameIsPlannedAtOnce) {
  Network network;
  network.join(1, 50);
  network.desk.put_model(card("m"), network.time);
  network.pass(10s);
  ASSERT_EQ(network.desk.models()[0].state, ModelState::no_worker);
  ModelCard smaller = card("m", 1, 2);
  smaller.file = std::string(64, 'c');
  network.desk.put_model(smaller, network.time);
  network.settle();
  EXPECT_EQ(network.desk.models()[0].state, ModelState::ready);
}

}  // namespace
}  // namespace weft::inference
