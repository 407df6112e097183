// Tests draws ahead of the caller: their number is bounded by the wanted tokens and the cache,
// sequences that joined together are drawn in one pass, and nothing is drawn ahead if the next
// token is read and not chosen.
#include "engine/llm/gpu/token_draws.h"

#include <chrono>
#include <optional>

#include "engine/llm/gpu/test_parts.h"

namespace weft::llm {
namespace {

using test::Parts;

TEST(TokenDraws, DrawsAheadWhatIsLikelyToBeAskedFor) {
  Parts parts({.engine = {.context = 128, .sequences = 2}});
  const SequenceId id = parts.read(5);

  ASSERT_TRUE(parts.run(parts.token_draws.draw({id}, {.more = 2})));

  const GpuSequence& sequence = parts.sequences.at(id);
  EXPECT_EQ(sequence.drawn_ahead(), 2u);
  EXPECT_EQ(sequence.length, 6u);
  EXPECT_EQ(sequence.tokens.size(), 6u);
  EXPECT_EQ(sequence.fed, 7u) << "the token that was drawn last is not read";
  const std::uint64_t steps = parts.passes.counters().decode_steps;
  ASSERT_TRUE(parts.run(parts.token_draws.draw({id}, {})));
  ASSERT_TRUE(parts.run(parts.token_draws.draw({id}, {})));
  EXPECT_EQ(parts.passes.counters().decode_steps, steps) << "they were drawn already";
  EXPECT_EQ(sequence.drawn_ahead(), 0u);
}

TEST(TokenDraws, DrawsNothingAheadUnlessAsked) {
  Parts parts({.engine = {.context = 128, .sequences = 2}});
  const SequenceId id = parts.read(5);

  ASSERT_TRUE(parts.run(parts.token_draws.draw({id}, {})));

  EXPECT_EQ(parts.sequences.at(id).drawn_ahead(), 0u);
  EXPECT_EQ(parts.passes.counters().decode_steps, 1u);
}

TEST(TokenDraws, StopsAheadWhereTheContextEnds) {
  Parts parts({.engine = {.context = 12, .sequences = 1}});
  const SequenceId id = parts.read(9);

  ASSERT_TRUE(parts.run(parts.token_draws.draw({id}, {.more = 50})));

  EXPECT_EQ(parts.sequences.at(id).drawn_ahead(), 2u);
  ASSERT_TRUE(parts.run(parts.token_draws.draw({id}, {.more = 50})));
  ASSERT_TRUE(parts.run(parts.token_draws.draw({id}, {.more = 50})));
  EXPECT_EQ(parts.run(parts.token_draws.draw({id}, {})).error().code,
            ErrorCode::resource_exhausted);
}

TEST(TokenDraws, SequencesTogetherTakeAPassForAllOfThem) {
  Parts parts({.engine = {.context = 128, .sequences = 2}});
  const SequenceId first = parts.read(5), second = parts.read(7);
  ASSERT_TRUE(parts.run(parts.token_draws.draw({first, second}, {})));
  const std::uint64_t before = parts.passes.counters().decode_submits;

  const auto drawn = parts.run(parts.token_draws.draw({second, first}, {}));

  EXPECT_EQ(drawn.value().size(), 2u);
  EXPECT_EQ(parts.passes.counters().decode_submits - before, 1u);
  EXPECT_EQ(parts.passes.counters().decode_steps, 2u);
}

TEST(TokenDraws, ReadsADrawnTokenWithoutChoosingTheNext) {
  Parts parts({.engine = {.context = 128, .sequences = 1}});
  const SequenceId id = parts.read(5);

  ASSERT_TRUE(parts.run(parts.token_draws.draw({id}, {.reads = true})));

  EXPECT_EQ(parts.sequences.at(id).drawn_ahead(), 0u);
  EXPECT_TRUE(parts.rows.is_read());
  EXPECT_EQ(parts.sequences.at(id).fed, 6u);
  ASSERT_TRUE(parts.run(parts.token_draws.draw({id}, {})));
  EXPECT_FALSE(parts.rows.is_read());
  EXPECT_EQ(parts.sequences.at(id).fed, 6u) << "the draw had only to choose";
}

// The rows end as if another caller of the engine read a prompt while kernels are compiled.
TEST(TokenDraws, ADrawGoesOnIfItsRowsEndWhileKernelsAreCompiled) {
  Parts parts({.engine = {.context = 128, .sequences = 2}, .software = true});
  const SequenceId id = parts.read(5);
  ASSERT_TRUE(parts.run(parts.outputs.logits(id)));
  std::optional<Result<std::vector<Drawn>>> drawn;
  start<Result<std::vector<Drawn>>>(
      parts.token_draws.draw({id}, {.more = 3}),
      [&](Result<std::vector<Drawn>> result) { drawn = std::move(result); });
  constexpr int polls_max = 10'000;
  for (int i = 0; i < polls_max && !drawn && parts.rows.ids().empty(); ++i)
    parts.instance->poll(std::chrono::milliseconds(1));
  ASSERT_FALSE(drawn.has_value()) << "it waits for the kernels of further draws";

  parts.rows.end();
  for (int i = 0; i < polls_max && !drawn; ++i) parts.instance->poll(std::chrono::milliseconds(1));

  ASSERT_TRUE(drawn.has_value());
  EXPECT_EQ(drawn->value().size(), 1u);
  EXPECT_TRUE(parts.run(parts.token_draws.draw({id}, {})).has_value());
}

TEST(TokenDraws, RefusesASequenceWithoutTokens) {
  Parts parts({.engine = {.context = 128, .sequences = 1}});
  const SequenceId id = parts.sequences.open().value();

  EXPECT_EQ(parts.run(parts.token_draws.draw({id}, {})).error().message,
            "There are no logits before the first token.");
}

}  // namespace
}  // namespace weft::llm
