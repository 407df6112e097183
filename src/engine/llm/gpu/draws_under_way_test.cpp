// Tests that the tokens of draws arrive on the CPU in order, with the hidden states that they come
// from, except for sequences that were rewound or closed.
#include "engine/llm/gpu/draws_under_way.h"

#include "engine/llm/gpu/test_parts.h"

namespace weft::llm {
namespace {

using test::Parts;

class DrawsUnderWayTest : public testing::Test {
 protected:
  // Submits a draw of one token for each sequence; the tokens are those in `drawn`.
  void draw(const std::vector<SequenceId>& ids, const std::vector<Token>& drawn,
            std::vector<DrawsUnderWay::HiddenRow> hidden = {}) {
    parts_.play_draw(step_++, drawn);
    gpu::Encoder encoder = parts_.passes.encoder("test");
    {
      gpu::Pass pass = encoder.begin_pass("test");
      parts_.draws.record(pass, ids);
    }
    if (!hidden.empty()) parts_.draws.record_hidden(encoder, std::move(hidden));
    parts_.draws.submit(std::move(encoder), ids);
  }
  [[nodiscard]] std::vector<Token> ahead(SequenceId id) {
    std::vector<Token> out;
    for (const Drawn& drawn : parts_.sequences.at(id).ahead) out.push_back(drawn.token);
    return out;
  }
  void take() { ASSERT_TRUE(parts_.run(parts_.draws.take_oldest())); }

  Parts parts_{{.engine = {.context = 64, .sequences = 2}}};
  std::uint32_t step_ = 0;
  const SequenceId first_ = parts_.sequences.open().value();
  const SequenceId second_ = parts_.sequences.open().value();
};

using Tokens = std::vector<Token>;

TEST_F(DrawsUnderWayTest, TokensComeToTheirSequencesInOrder) {
  draw({first_, second_}, {5, 6});
  draw({second_}, {7});
  EXPECT_EQ(parts_.sequences.at(second_).under_way, 2u);

  take();
  take();

  EXPECT_EQ(ahead(first_), Tokens({5}));
  EXPECT_EQ(ahead(second_), Tokens({6, 7}));
  EXPECT_EQ(parts_.sequences.at(second_).under_way, 0u);
  EXPECT_EQ(parts_.draws.size(), 0u);
  EXPECT_EQ(parts_.passes.counters().decode_steps, 2u);
  EXPECT_EQ(parts_.passes.counters().decode_submits, 2u);
}

TEST_F(DrawsUnderWayTest, WhatWasTakenBackMeanwhileDoesNotCount) {
  draw({first_, second_}, {5, 6});

  parts_.sequences.at(first_).forget_ahead();
  draw({first_, second_}, {7, 8});
  take();
  take();

  EXPECT_EQ(ahead(first_), Tokens({7}));
  EXPECT_EQ(ahead(second_), Tokens({6, 8}));
}

TEST_F(DrawsUnderWayTest, AnotherSequenceInTheSlotGetsNothingOfAClosedOne) {
  draw({first_, second_}, {5, 6});

  parts_.draws.forget(first_);
  parts_.sequences.close(first_);
  ASSERT_EQ(parts_.sequences.open(), first_);
  take();

  EXPECT_EQ(ahead(first_), Tokens());
  EXPECT_EQ(parts_.sequences.at(first_).under_way, 0u);
  EXPECT_EQ(ahead(second_), Tokens({6}));
}

TEST_F(DrawsUnderWayTest, HiddenStatesComeWithTheDrawFromThem) {
  parts_.sequences.at(second_).kept.begin(8, 2);
  parts_.draws.make_room_for_hidden();
  parts_.play_hidden(1, 3);
  const std::vector<SequenceId> both{first_, second_};
  EXPECT_TRUE(parts_.draws.rows_to_keep(both, [](std::size_t) { return 9; }).empty());
  auto rows = parts_.draws.rows_to_keep(both, [](std::size_t) { return 10; });
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].row, 1u);

  draw(both, {5, 6}, std::move(rows));
  EXPECT_FALSE(parts_.sequences.at(second_).kept.take(10).has_value()) << "not there yet";
  take();

  const auto state = parts_.sequences.at(second_).kept.take(10);
  ASSERT_TRUE(state.has_value());
  EXPECT_EQ(*state, std::vector<float>(parts_.setup.config.embedding, 3));
}

TEST_F(DrawsUnderWayTest, ADrawThatIsWaitedForIsNoSequencesNext) {
  parts_.play_draw(0, Tokens({4, 9}));
  gpu::Encoder encoder = parts_.passes.encoder("test");

  const auto drawn =
      parts_.run(parts_.draws.draw_at_once(std::move(encoder), {first_, second_})).value();

  ASSERT_EQ(drawn.size(), 2u);
  EXPECT_EQ(drawn[1].token, 9);
  EXPECT_EQ(ahead(second_), Tokens());
  EXPECT_EQ(parts_.draws.size(), 0u);
}

TEST_F(DrawsUnderWayTest, HaveNoRoomForAnotherWhenAllAreUnderWay) {
  for (std::size_t i = 0; i < DrawsUnderWay::under_way_max; ++i) {
    EXPECT_TRUE(parts_.draws.can_draw_at_once());
    draw({first_}, {5});
  }
  EXPECT_FALSE(parts_.draws.can_draw_at_once());

  while (parts_.draws.size() > 0) take();

  EXPECT_TRUE(parts_.draws.can_draw_at_once());
}

}  // namespace
}  // namespace weft::llm
