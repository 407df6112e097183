// Tests that an answer's rows are found in the frames of a chain's lines, also if a sequence went
// back, served other answers, or lost its oldest frames, and that a stage that hands on altered
// frames is detected.
#include "decisions/inference/line_rows.h"

#include <gtest/gtest.h>

#include <numeric>

namespace weft::inference {
namespace {

constexpr std::size_t width = 2;

proof::Activations pass(std::uint32_t at, const std::vector<std::int32_t>& tokens, float value,
                        bool asks = false, std::uint32_t ticket = 0) {
  proof::Activations out;
  out.head = {.kind = 0, .sequence = 1, .ticket = ticket, .at = at};
  if (asks) out.head.want = std::to_underlying(proof::FrameWant::hidden);
  out.tokens = tokens;
  out.values.assign(tokens.size() * width, value);
  return out;
}
LineFrames frames_of(const std::vector<proof::Activations>& frames, std::uint32_t first = 0) {
  LineFrames out;
  for (const auto& frame : frames) out.emplace(first++, frame);
  return out;
}
std::vector<std::uint32_t> numbers(const AnswerPlaces& places) {
  std::vector<std::uint32_t> out;
  for (const auto& row : places.rows) out.push_back(row.number);
  return out;
}
using Numbers = std::vector<std::uint32_t>;

TEST(LineRows, AnAnswerIsFoundByItsTokens) {
  const auto places =
      find_answer(frames_of({pass(0, {5, 6, 7}, 1), pass(3, {8}, 1, true, 4), pass(4, {9}, 1)}),
                  std::vector<std::int32_t>{5, 6, 7, 8, 9});
  EXPECT_EQ(numbers(places), (Numbers{0, 0, 0, 1, 2}));
  EXPECT_EQ(places.rows[2].row, 2U);
  ASSERT_TRUE(places.asked.contains(4));
  EXPECT_EQ(places.asked.at(4).positions, 4U);
}

TEST(LineRows, WhatWasReadAgainReplacesWhatWasReadFirst) {
  const auto places =
      find_answer(frames_of({pass(0, {5, 6}, 1), pass(2, {7}, 1), pass(1, {6, 7}, 2)}),
                  std::vector<std::int32_t>{5, 6, 7});
  EXPECT_EQ(numbers(places), (Numbers{0, 2, 2}));
}

TEST(LineRows, OtherAnswersOfTheSequenceAreNotInTheWay) {
  const std::vector<std::int32_t> tokens{5, 6, 7};
  EXPECT_EQ(numbers(find_answer(frames_of({pass(0, {5, 6}, 1), pass(2, {7}, 1), pass(3, {1}, 1),
                                           pass(2, {9, 9, 9}, 1), pass(0, {4}, 1)}),
                                tokens)),
            (Numbers{0, 0, 1}));
  EXPECT_EQ(numbers(find_answer(frames_of({pass(0, {5, 6, 4}, 1), pass(2, {7}, 1)}), tokens)),
            (Numbers{0, 0, 1}));
}

TEST(LineRows, AStateThatWasAskedForTwiceCountsOnce) {
  const auto places = find_answer(
      frames_of({pass(0, {5, 6}, 1, true, 3), pass(0, {5}, 1), pass(1, {6}, 1, true, 9)}),
      std::vector<std::int32_t>{5, 6});
  ASSERT_EQ(places.asked.size(), 1U);
  EXPECT_EQ(places.asked.begin()->first, 9U);
  EXPECT_EQ(places.asked.begin()->second.number, 2U);
}

TEST(LineRows, BehindAGapNothingIsFound) {
  const std::vector<std::int32_t> tokens{5, 6, 7};
  EXPECT_TRUE(find_answer(frames_of({pass(2, {7}, 1)}), tokens).rows.empty());
  EXPECT_EQ(numbers(find_answer(frames_of({pass(0, {5}, 1), pass(2, {7}, 1)}), tokens)),
            (Numbers{0}));
}

struct Stage {
  std::vector<proof::Activations> in{pass(0, {5, 6}, 1), pass(2, {7}, 1, true, 3)},
      out{pass(0, {5, 6}, 2), pass(2, {7}, 2, true, 3)};
  [[nodiscard]] StageRows rows() const {
    const LineFrames from = frames_of(in), to = frames_of(out);
    const auto places = find_answer(from, std::vector<std::int32_t>{5, 6, 7});
    return stage_rows(places, &from, &to, width);
  }
};

TEST(LineRows, AStagesRowsAreThoseOfTheSameFrames) {
  const StageRows rows = Stage().rows();
  EXPECT_FALSE(rows.altered);
  ASSERT_EQ(rows.in.size(), 3U);
  ASSERT_EQ(rows.out.size(), 3U);
  EXPECT_EQ(rows.in[2], (std::vector<float>{1, 1}));
  EXPECT_EQ(rows.out[2], (std::vector<float>{2, 2}));
}

// Each tested change of a frame would hide rows from the search for an answer's tokens.
TEST(LineRows, AStageThatHandsOnOtherFramesIsSeen) {
  const auto altered = [](auto change) {
    Stage stage;
    change(stage.out[1]);
    return stage.rows().altered;
  };
  EXPECT_TRUE(altered([](auto& frame) { frame.tokens[0] = 8; }));
  EXPECT_TRUE(altered([](auto& frame) { frame.head.sequence = 2; }));
  EXPECT_TRUE(altered([](auto& frame) { frame.head.at = 1; }));
  EXPECT_TRUE(altered([](auto& frame) { frame.head.ticket = 9; }));
  EXPECT_TRUE(altered([](auto& frame) { frame.head.want = 0; }));
  EXPECT_TRUE(altered([](auto& frame) { frame.values.pop_back(); }));
  EXPECT_FALSE(altered([](auto&) {}));
}

// A frame without rows is what an honest stage sends in place of a frame that it cannot process.
TEST(LineRows, AFrameWithoutRowsInPlaceOfOneIsNoLie) {
  Stage stage;
  stage.out[1] = pass(0, {}, 0);
  const StageRows rows = stage.rows();
  EXPECT_FALSE(rows.altered);
  EXPECT_EQ(rows.out.size(), 2U);
}

TEST(LineRows, WhatIsMissingOnOneLineIsNotCompared) {
  Stage stage;
  stage.out.pop_back();
  EXPECT_EQ(stage.rows().in.size(), 2U);
  EXPECT_FALSE(stage.rows().altered);
}

}  // namespace
}  // namespace weft::inference
