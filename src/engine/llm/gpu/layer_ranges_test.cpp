// A range of layers: states are read in passes of as many rows as possible, one row of each of
// several sequences in one pass, and draws work even while all readback slots are used.
#include "engine/llm/gpu/layer_ranges.h"

#include "engine/llm/gpu/test_parts.h"

namespace weft::llm {
namespace {

using test::Command;
using test::Parts;

class LayerRangesTest : public testing::Test {
 protected:
  // Opens a sequence on the engine of the last layers and lets it read `positions` positions.
  SequenceId absorb(std::size_t positions) {
    const SequenceId id = last_.sequences.open().value();
    EXPECT_TRUE(last_.run(last_.ranges.absorb(id, states(positions))));
    return id;
  }
  [[nodiscard]] std::vector<float> states(std::size_t positions) const {
    return std::vector<float>(positions * last_.setup.config.embedding, 1);
  }
  Parts last_{{.engine = {.layers = {1, 0}, .context = 128, .sequences = 3}, .software = true}};
};

TEST_F(LayerRangesTest, TakesStatesInPassesOfAsManyRowsAsThereAre) {
  ASSERT_EQ(last_.setup.buffers.shape.rows, 64u);

  const SequenceId id = absorb(70);

  EXPECT_EQ(last_.sequences.at(id).length, 70u);
  EXPECT_EQ(last_.sequences.at(id).hidden_at, 70u);
  std::size_t written = 0;
  for (const Command& command : last_.instance->commands())
    written += command.kind == Command::Kind::write &&
               command.object == last_.setup.buffers.hidden.handle();
  EXPECT_EQ(written, 2u);
}

TEST_F(LayerRangesTest, RefusesNumbersThatAreNoStates) {
  const SequenceId id = absorb(2);
  std::vector<float> odd = states(1);
  odd.pop_back();

  EXPECT_EQ(last_.run(last_.ranges.forward(id, std::move(odd))).error().code,
            ErrorCode::invalid_argument);
  EXPECT_EQ(last_.run(last_.ranges.forward(id, states(127))).error().code,
            ErrorCode::resource_exhausted);
  EXPECT_EQ(
      last_.run(last_.ranges.forward_each({.sequences = {id}, .hidden = {1}})).error().message,
      "1 rows need a token or a hidden state each; 0 tokens and 1 numbers are given.");
  EXPECT_EQ(last_.sequences.at(id).length, 2u);
}

TEST_F(LayerRangesTest, RowsOfSeveralTakeOnePass) {
  const SequenceId first = absorb(2), second = absorb(4);
  last_.instance->forget_commands();

  const auto out =
      last_.run(last_.ranges.forward_each({.sequences = {first, second}, .hidden = states(2)}));

  EXPECT_EQ(out.value().size(), states(2).size());
  EXPECT_EQ(last_.sequences.at(first).length, 3u);
  EXPECT_EQ(last_.sequences.at(second).hidden_at, 5u);
  std::size_t written = 0;
  for (const Command& command : last_.instance->commands())
    written += command.kind == Command::Kind::write &&
               command.object == last_.setup.buffers.hidden.handle();
  EXPECT_EQ(written, 1u);
}

TEST_F(LayerRangesTest, DrawsBehindAStateThatIsThereAndNoOther) {
  const SequenceId id = absorb(2);
  last_.play_draw(0, std::vector<Token>({9}));

  const auto drawn =
      last_.run(last_.ranges.draw_behind_each({{.sequence = id, .tokens = Parts::tokens(2)}}));

  EXPECT_EQ(drawn.value().at(0).token, 9);
  EXPECT_EQ(last_.sequences.at(id).length, 2u) << "it does not count as appended";
  EXPECT_EQ(
      last_.run(last_.ranges.draw_behind_each({{.sequence = id, .tokens = {1}}})).error().message,
      "A stage has no hidden state after position 2 to draw from.");
  EXPECT_EQ(last_.sequences.rewind(id, 1), 1u);
  EXPECT_EQ(
      last_.run(last_.ranges.draw_behind_each({{.sequence = id, .tokens = {1}}})).error().code,
      ErrorCode::unavailable)
      << "the state behind the first position is not kept";
}

TEST_F(LayerRangesTest, DrawsOnTheProcessorWhileOthersTakeAllRoom) {
  const SequenceId id = absorb(2), other = absorb(2);
  last_.play_draw(0, std::vector<Token>({9}));
  ASSERT_TRUE(last_.run(last_.sampling.prepare({other})));
  for (std::size_t i = 0; i < DrawsUnderWay::under_way_max; ++i) {
    gpu::Encoder encoder = last_.passes.encoder("test");
    {
      gpu::Pass pass = encoder.begin_pass("test");
      last_.draws.record(pass, {other});
    }
    last_.draws.submit(std::move(encoder), {other});
  }

  const auto drawn =
      last_.run(last_.ranges.draw_behind_each({{.sequence = id, .tokens = Parts::tokens(2)}}));

  ASSERT_TRUE(drawn.has_value()) << drawn.error().message;
  EXPECT_EQ(drawn->at(0).token, 0) << "the best of logits that are all the same";
}

TEST(LayerRanges, TheFirstGivesAStateForEachToken) {
  Parts first({.engine = {.layers = {0, 1}, .context = 128, .sequences = 2}});
  const SequenceId id = first.sequences.open().value();

  const auto hidden = first.run(first.ranges.forward_tokens(id, Parts::tokens(5)));

  EXPECT_EQ(hidden.value().size(), std::size_t{5} * first.setup.config.embedding);
  EXPECT_EQ(first.sequences.at(id).tokens, Parts::tokens(5));
  EXPECT_TRUE(first.run(first.ranges.forward_tokens(id, {})).value().empty());
}

}  // namespace
}  // namespace weft::llm
