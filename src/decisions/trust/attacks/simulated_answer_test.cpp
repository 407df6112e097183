// Tests that the simulation reads back numbers and answers from ids and roots, and that it
// recognizes right parts.
#include "decisions/trust/attacks/simulated_answer.h"

#include <gtest/gtest.h>

namespace weft::trust::attacks {
namespace {

TEST(SimulatedAnswer, IdsHoldTheirNumbers) {
  for (const std::uint32_t number : {0U, 1U, 40U, 1'000'000U})
    EXPECT_EQ(number_of(id_of<PublicKey>(number)), number);
  EXPECT_NE(id_of<JobId>(0), JobId{}) << "number 0 is an id as well";
}

TEST(SimulatedAnswer, ARootHoldsItsAnswerAndDiffersByTask) {
  const TaskId task{.job = id_of<JobId>(7), .index = 3};
  const Answer answer{.wrong = 0xf0f0, .mark = 5};

  EXPECT_EQ(answer_of(root_of(task, answer)), answer);
  EXPECT_NE(root_of(task, answer), root_of({.job = task.job, .index = 4}, answer));
  EXPECT_NE(root_of(task, answer), root_of({.job = id_of<JobId>(8), .index = 3}, answer));
}

TEST(SimulatedAnswer, APartIsWrongIfOneOfItsSlicesIs) {
  AuditWanted wanted;
  wanted.parts = 4;
  wanted.root = root_of({}, {.wrong = std::uint64_t{1} << 15});

  EXPECT_FALSE(part_is_right(wanted, 0, 64)) << "slices 0 to 15";
  EXPECT_TRUE(part_is_right(wanted, 1, 64)) << "slices 16 to 31";
  EXPECT_TRUE(part_is_right(wanted, 0, 32)) << "slices 0 to 7";
  EXPECT_FALSE(part_is_right(wanted, 1, 32)) << "slices 8 to 15";
}

TEST(SimulatedAnswer, AnAnswerOfAnotherDeviceIsRightInNoPart) {
  AuditWanted wanted;
  wanted.parts = 2;
  wanted.root = root_of({}, {.mark = 1});

  EXPECT_FALSE(part_is_right(wanted, 0, 64));
  EXPECT_FALSE(part_is_right(wanted, 1, 64));
}

TEST(SimulatedAnswer, ARunOfOnesEndsWithTheWord) {
  EXPECT_EQ(run_of_ones(0), 0U);
  EXPECT_EQ(run_of_ones(3), 7U);
  EXPECT_EQ(run_of_ones(64), ~std::uint64_t{0});
}

}  // namespace
}  // namespace weft::trust::attacks
