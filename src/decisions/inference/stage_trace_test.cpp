// Tests the evidence against a stage: rows that its layers do not produce count, and rows on which
// honest engines disagree do not. A first stage that reports fingerprints of other states than it
// received is found.
#include "decisions/inference/stage_trace.h"

#include <gtest/gtest.h>

#include <limits>

#include "common/proof/fingerprint.h"

namespace weft::inference {
namespace {

using Row = std::vector<float>;

StageOutput rows(const Row& row) { return {.rows = {row}}; }

TEST(StageTrace, ARowThatIsOffCounts) {
  EXPECT_EQ(stage_error(rows({1, 2, 3}), rows({1, 2, 3})), 0);
  EXPECT_GT(stage_error(rows({1, 2, 3}), rows({1, 2, 3.3F})), 0.01);
  const StageOutput moved = rows({1.0005F, 2.001F, 3.2985F});
  EXPECT_GT(stage_error(rows({1, 2, 3}), rows({1, 2, 3.3F}), &moved), 0.01);
  EXPECT_EQ(stage_error(rows({1, 2, 3}), {}), 0) << "of what an auditor did not compute";
}

TEST(StageTrace, AFinalStateThatIsOffCounts) {
  const StageOutput said{.finals = {{3, {1, 2}}, {5, {1, 2}}}}, own{.finals = {{5, {1, 3}}}};
  EXPECT_GT(stage_error(said, own), 0.05);
  const StageOutput steady{.finals = {{5, {1, 3}}}}, wild{.finals = {{5, {2, 1}}}};
  EXPECT_GT(stage_error(said, own, &steady), 0.05);
  EXPECT_EQ(stage_error(said, own, &wild), 0);
}

// A member before the stage can choose the input x so that x and the output that the layers add to
// it cancel. Only rounding is left, which differs between engines.
TEST(StageTrace, ARowAtWhichHonestEnginesDoNotAgreeDoesNotCount) {
  const StageOutput one = rows({1e-6F, -2e-6F, 3e-6F}), other = rows({2e-6F, 1e-6F, -1e-6F});
  const StageOutput moved = rows({4e-4F, -5e-4F, 4e-4F});
  EXPECT_GT(stage_error(one, other), 0.3);
  EXPECT_EQ(stage_error(one, other, &moved), 0);
}

TEST(StageTrace, NumbersThatAreNotFiniteAreTheStagesFaultOnlyWhereTheLayersGiveSuch) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(stage_error(rows({1, 2}), rows({nan, 2})), 0) << "what came in made them so";
  EXPECT_EQ(stage_error(rows({nan, 2}), rows({nan, 2})), 0);
  EXPECT_GT(stage_error(rows({nan, 2}), rows({1, 2})), 1);
}

TEST(StageTrace, ShakenRowsAreALittleOffEach) {
  const auto out = shaken({{1, -2, 0}, {4, 8, 16}});
  ASSERT_EQ(out.size(), 2U);
  EXPECT_NEAR(out[0][1], -2, 2e-3);
  EXPECT_NE(out[0][1], -2);
  EXPECT_EQ(out[0][2], 0);
}

TEST(StageTrace, APrintThatIsNotOfTheCommittedStateIsFalse) {
  const Row state{1, -2, 3, 4}, other{4, 3, -2, 1};
  TraceRequest what;
  what.ask.prompt = {1, 2, 3};
  what.prints = {{0, proof::fingerprint(state).value()}, {32, proof::fingerprint(state).value()}};
  AnswerPlaces places;
  places.asked = {{7, {.number = 0, .positions = 3}}, {8, {.number = 1, .positions = 35}}};
  EXPECT_EQ(false_print(what, places, {{7, state}, {8, state}}), std::nullopt);
  EXPECT_EQ(false_print(what, places, {{7, state}, {8, other}}), 32U);
  EXPECT_EQ(false_print(what, places, {{7, state}}), std::nullopt) << "of what is not there";
}

}  // namespace
}  // namespace weft::inference
