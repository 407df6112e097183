// Rows that draw by themselves: when the rows become invalid, no computed state is lost, and a
// sequence that is rewound does not change the other sequences.
#include "engine/llm/gpu/drawn_rows.h"

#include "engine/llm/gpu/test_parts.h"

namespace weft::llm {
namespace {

using test::Command;
using test::Parts;

class DrawnRowsTest : public testing::Test {
 protected:
  // Calls draw() `count` times with `more`; each call hands out one token of each sequence.
  void draw(const std::vector<SequenceId>& ids, int count, std::uint32_t more) {
    for (int i = 0; i < count; ++i)
      ASSERT_TRUE(parts_.run(parts_.token_draws.draw(
          ids, {.more = more == 0 ? 0 : more - static_cast<std::uint32_t>(i)})));
  }
  [[nodiscard]] GpuSequence& at(SequenceId id) { return parts_.sequences.at(id); }

  Parts parts_{{.engine = {.context = 128, .sequences = 3}}};
  const SequenceId first_ = parts_.read(5);
  const SequenceId second_ = parts_.read(7);
};

TEST_F(DrawnRowsTest, AreOfTheSequencesThatDrewTogetherUntilOthersUseThem) {
  draw({first_, second_}, 1, 0);

  EXPECT_TRUE(parts_.rows.are_of({second_, first_}));
  EXPECT_FALSE(parts_.rows.are_of({first_})) << "the other one would draw as well";
  EXPECT_EQ(parts_.rows.next().rows, 2u);
  EXPECT_EQ(parts_.rows.next().positions, 8u);
  EXPECT_EQ(parts_.rows.next().positions_least, 6u);
  parts_.read(3);
  EXPECT_FALSE(parts_.rows.are_of({second_, first_}));
}

TEST_F(DrawnRowsTest, HaveRoomUntilTheContextEnds) {
  Parts small({.engine = {.context = 20, .sequences = 1}});
  const SequenceId id = small.read(15);
  ASSERT_TRUE(small.run(small.token_draws.draw({id}, {})));

  EXPECT_EQ(small.rows.room(), 4u) << "a token is drawn behind the last that is read";
}

TEST_F(DrawnRowsTest, LeaveHiddenStatesThatWereReadAndNotDrawnFrom) {
  ASSERT_TRUE(parts_.run(parts_.token_draws.draw({first_, second_}, {.reads = true})));
  ASSERT_TRUE(parts_.rows.is_read());
  ASSERT_EQ(at(first_).hidden_at, std::nullopt);
  parts_.play_hidden(1, 4);

  parts_.rows.end();

  EXPECT_FALSE(parts_.rows.is_read());
  EXPECT_TRUE(parts_.rows.ids().empty());
  EXPECT_EQ(at(second_).hidden_at, 8u);
  EXPECT_EQ(parts_.hidden_of(parts_.last_hidden.states(), static_cast<std::uint64_t>(second_)), 4);
}

TEST_F(DrawnRowsTest, SettlingASequenceTakesBackWhatItDrewAhead) {
  draw({first_}, 2, 6);
  ASSERT_GT(at(first_).drawn_ahead(), 0u);
  const std::uint64_t epoch = at(first_).epoch;

  parts_.rows.settle(first_);

  EXPECT_EQ(at(first_).drawn_ahead(), 0u);
  EXPECT_EQ(at(first_).fed, at(first_).length);
  EXPECT_EQ(at(first_).hidden_at, std::nullopt);
  EXPECT_GT(at(first_).epoch, epoch) << "so that what is under way does not count";
  parts_.instance->forget_commands();
  parts_.rows.settle(first_);
  EXPECT_TRUE(parts_.instance->commands().empty()) << "there is nothing left to take back";
}

TEST_F(DrawnRowsTest, AMaskTakesBackTheTokensOfItsSequenceAlone) {
  draw({first_, second_}, 2, 6);
  const std::uint32_t ahead = at(second_).drawn_ahead();
  ASSERT_GT(ahead, 0u);
  const std::vector<std::uint64_t> mask((parts_.setup.config.vocabulary + 63) / 64, 1);

  parts_.rows.set_mask(first_, mask);

  EXPECT_EQ(at(first_).drawn_ahead(), 0u);
  EXPECT_TRUE(at(first_).behind);
  EXPECT_EQ(at(first_).fed, at(first_).length - 1) << "it reads its last token again";
  EXPECT_EQ(at(second_).drawn_ahead(), ahead);
  EXPECT_TRUE(parts_.rows.are_of({second_})) << "which need not wait for the other one";
}

TEST_F(DrawnRowsTest, AMaskBeforeTheFirstDrawnTokenEndsTheRows) {
  draw({first_, second_}, 1, 6);
  at(first_).joined_at = at(first_).length;  // As if no token had been handed out yet.
  const std::vector<std::uint64_t> mask((parts_.setup.config.vocabulary + 63) / 64, 1);

  parts_.rows.set_mask(first_, mask);

  EXPECT_TRUE(parts_.rows.ids().empty()) << "read again here, it could round differently";
  EXPECT_FALSE(at(first_).behind);
}

TEST_F(DrawnRowsTest, ReadRowsTakeAnyMask) {
  ASSERT_TRUE(parts_.run(parts_.token_draws.draw({first_, second_}, {.reads = true})));
  const std::vector<std::uint64_t> mask((parts_.setup.config.vocabulary + 63) / 64, 1);

  parts_.rows.set_mask(first_, mask);

  EXPECT_TRUE(parts_.rows.is_read());
  EXPECT_TRUE(parts_.rows.are_of({first_, second_}));
  EXPECT_FALSE(at(first_).behind) << "its token is read, and the next not drawn";
}

}  // namespace
}  // namespace weft::llm
