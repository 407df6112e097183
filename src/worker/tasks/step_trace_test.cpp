// A trace has the root of the state after each group of steps, and the states for which there was
// room. A state is a blob that names its task and the number of steps that are done.
#include "worker/tasks/step_trace.h"

#include <gtest/gtest.h>

#include "common/proof/merkle.h"
#include "worker/tasks/test_steps.h"

namespace weft::worker {
namespace {

struct Traced {
  Traced(std::uint32_t steps, std::shared_ptr<StateRoom> its_room)
      : manifest(manifest::parse(steps_manifest(steps)).value()),
        task({.id = {.job = {}, .index = 0},
              .manifest = crypto::sha256(as_bytes(std::string_view("m"))),
              .first = 0,
              .count = 1,
              .unit = proof::StatedTask::Unit::steps,
              .of = steps}),
        room(std::move(its_room)),
        trace(task, manifest, room) {}
  void add(std::uint32_t done) {
    trace.add(done, std::make_shared<const std::vector<ByteVector>>(run_steps({}, 0, done)));
  }
  manifest::Manifest manifest;
  proof::StatedTask task;
  std::shared_ptr<StateRoom> room;
  StepTrace trace;
};

TEST(StepTrace, HasARootForEachGroupButTheLast) {
  Traced traced(8, std::make_shared<StateRoom>(1000));

  for (std::uint32_t done = 1; done <= 8; ++done) traced.add(done);

  ASSERT_EQ(traced.trace.roots().size(), 7U);
  for (std::uint32_t done = 1; done < 8; ++done)
    EXPECT_EQ(traced.trace.roots()[done - 1], root_after(done));
  EXPECT_EQ(traced.room->left(), 1000 - 7 * state_bytes) << "the last state is the result";
}

TEST(StepTrace, TakesNeighbouringStepsTogetherBeyond32) {
  Traced traced(40, std::make_shared<StateRoom>(1000));
  EXPECT_EQ(traced.trace.end_of_group(0), 2U);
  EXPECT_EQ(traced.trace.end_of_group(1), 2U);
  EXPECT_EQ(traced.trace.end_of_group(15), 16U);
  EXPECT_EQ(traced.trace.end_of_group(16), 17U);
  EXPECT_EQ(traced.trace.end_of_group(39), 40U);

  for (std::uint32_t done = 1; done <= 40; ++done) traced.add(done);

  ASSERT_EQ(traced.trace.roots().size(), 31U);
  EXPECT_EQ(traced.trace.roots()[0], root_after(2));
  EXPECT_EQ(traced.trace.roots()[7], root_after(16));
  EXPECT_EQ(traced.trace.roots()[8], root_after(17));
  EXPECT_EQ(traced.trace.roots()[30], root_after(39));
}

TEST(StepTrace, GivesAStateAsABlobOfItsTask) {
  Traced traced(40, std::make_shared<StateRoom>(1000));
  for (std::uint32_t done = 1; done <= 40; ++done) traced.add(done);

  const auto blob = traced.trace.state_before(9);

  ASSERT_TRUE(blob.has_value());
  const auto state = proof::decode_state(*blob);
  ASSERT_TRUE(state.has_value()) << state.error().message;
  EXPECT_EQ(state->task, traced.task);
  EXPECT_EQ(state->done, 17U);
  ASSERT_EQ(state->outputs.size(), 2U);
  const auto expected = run_steps({}, 0, 17);
  EXPECT_TRUE(std::ranges::equal(state->outputs[0], expected[0]));
  EXPECT_TRUE(std::ranges::equal(state->outputs[1], expected[1]));
  for (const std::uint32_t none : {0U, 32U, 33U, ~0U})
    EXPECT_FALSE(traced.trace.state_before(none).has_value()) << none;
}

TEST(StepTrace, KeepsTheFirstStatesOfAllTasksTogetherAndGivesTheirRoomBack) {
  const auto room = std::make_shared<StateRoom>(5 * state_bytes + 1);
  Traced first(4, room);
  for (std::uint32_t done = 1; done <= 4; ++done) first.add(done);
  {
    Traced second(8, room);
    for (std::uint32_t done = 1; done <= 8; ++done) second.add(done);

    EXPECT_TRUE(second.trace.state_before(2).has_value());
    EXPECT_FALSE(second.trace.state_before(3).has_value()) << "the latest are dropped first";
    EXPECT_EQ(second.trace.roots().size(), 7U) << "a root takes no room";
    EXPECT_EQ(room->left(), 1U);
  }
  EXPECT_EQ(room->left(), 2 * state_bytes + 1);
  EXPECT_TRUE(first.trace.state_before(3).has_value());
}

}  // namespace
}  // namespace weft::worker
