// Ranges of layers on the GPU: rows of several sequences in one pass get, to the last bit, the
// states that each gets alone, and so do the tokens that are drawn after them.
#include "engine/llm/gpu/test_gpu.h"

namespace weft::llm {
namespace {

using test::run;

class Ranges : public test::TinyLlamaTest, public testing::WithParamInterface<Activations> {
 protected:
  [[nodiscard]] std::unique_ptr<Engine> range(LayerRange layers) const {
    return engine_of(
        *model_,
        {.layers = layers, .context = 128, .sequences = sequences, .activations = GetParam()});
  }
  [[nodiscard]] static std::vector<Token> prompt(std::size_t number) {
    std::vector<Token> out;
    for (std::size_t i = 0; i < 2 + number * 7 % 23; ++i)
      out.push_back(static_cast<Token>(40 + number + i * 7 % 200));
    return out;
  }

  static constexpr std::uint32_t sequences = 6;
};
class RangesFit : public test::TinyLlamaTest {};
INSTANTIATE_TEST_SUITE_P(Arithmetics, Ranges, testing::Values(Activations::f32, Activations::int8),
                         [](const auto& row) {
                           return row.param == Activations::f32 ? "f32" : "int8";
                         });

TEST_P(Ranges, RowsTogetherGetTheBitsOfEachAlone) {
  const std::uint32_t layers = model_->model.config.layers;
  const auto first = range({0, 2}), last = range({2, layers});
  const std::size_t width = model_->model.config.embedding;
  struct Run {
    // The states after the first range, one row for each step.
    std::vector<std::vector<float>> hidden;
    std::vector<Drawn> drawn;
  };
  const auto sampling = [](std::size_t i) {
    return i % 2 == 0 ? Sampling{}
                      : Sampling{.temperature = 0.9F, .presence_penalty = 0.5F, .seed = i};
  };
  constexpr int steps = 3;
  const auto begin = [&](std::size_t i, std::vector<Token>& tokens) {
    const SequenceId a = first->open().value(), b = last->open().value();
    EXPECT_EQ(a, b);
    tokens = prompt(i);
    auto hidden = run(first->forward_tokens(a, tokens)).value();
    EXPECT_TRUE(run(last->absorb(b, std::move(hidden))).has_value());
    return a;
  };
  std::vector<Run> alone(sequences);
  for (std::size_t i = 0; i < sequences; ++i) {
    std::vector<Token> tokens;
    const SequenceId id = begin(i, tokens);
    for (int step = 0; step < steps; ++step) {
      alone[i].drawn.push_back(run(last->draw_behind(id, sampling(i), tokens)).value());
      tokens.push_back(alone[i].drawn.back().token);
      alone[i].hidden.push_back(run(first->forward_tokens(id, {tokens.back()})).value());
      ASSERT_TRUE(run(last->absorb(id, alone[i].hidden.back())).has_value());
    }
    first->close(id);
    last->close(id);
  }

  std::vector<Run> together(sequences);
  std::vector<std::vector<Token>> tokens(sequences);
  std::vector<SequenceId> ids;
  for (std::size_t i = 0; i < sequences; ++i) ids.push_back(begin(i, tokens[i]));
  for (int step = 0; step < steps; ++step) {
    std::vector<DrawBehind> draws;
    for (std::size_t i = 0; i < sequences; ++i)
      draws.push_back({.sequence = ids[i], .sampling = sampling(i), .tokens = tokens[i]});
    const std::vector<Drawn> drawn = run(last->draw_behind_each(std::move(draws))).value();
    Rows rows{.sequences = ids};
    for (std::size_t i = 0; i < sequences; ++i) {
      together[i].drawn.push_back(drawn[i]);
      tokens[i].push_back(drawn[i].token);
      rows.tokens.push_back(drawn[i].token);
    }
    std::vector<float> hidden = run(first->forward_each(std::move(rows))).value();
    for (std::size_t i = 0; i < sequences; ++i) {
      const auto from = hidden.begin() + static_cast<std::ptrdiff_t>(i * width);
      together[i].hidden.emplace_back(from, from + static_cast<std::ptrdiff_t>(width));
    }
    ASSERT_TRUE(
        run(last->absorb_each({.sequences = ids, .hidden = std::move(hidden)})).has_value());
  }

  for (std::size_t i = 0; i < sequences; ++i) {
    for (int step = 0; step < steps; ++step) {
      EXPECT_EQ(together[i].drawn[step].token, alone[i].drawn[step].token) << i << ", " << step;
      EXPECT_EQ(together[i].drawn[step].logprob, alone[i].drawn[step].logprob) << i;
      EXPECT_EQ(together[i].hidden[step], alone[i].hidden[step]) << i << ", " << step;
    }
    EXPECT_EQ(first->length(ids[i]), prompt(i).size() + steps);
  }
  // All rows go through one pass, which takes a few submits instead of one for each row.
  const auto before = first->counters().submits;
  Rows rows{.sequences = ids, .tokens = std::vector<Token>(sequences, 41)};
  ASSERT_TRUE(run(first->forward_each(std::move(rows))).has_value());
  EXPECT_LT(first->counters().submits - before, sequences);
}

TEST_P(Ranges, RefuseRowsThatDoNotFit) {
  const auto first = range({0, 2});
  const SequenceId id = first->open().value();
  EXPECT_EQ(run(first->forward_each({.sequences = {id}, .tokens = {-1}})).error().code,
            ErrorCode::invalid_argument);
  EXPECT_EQ(run(first->forward_each({.sequences = {id}, .tokens = {1, 2}})).error().message,
            "1 rows need a token or a hidden state each; 2 tokens and 0 numbers are given.");
  ASSERT_TRUE(run(first->forward_tokens(id, std::vector<Token>(128, 41))).has_value());
  EXPECT_EQ(run(first->forward_each({.sequences = {id}, .tokens = {41}})).error().code,
            ErrorCode::resource_exhausted);
}

// A stage of a chain is asked for as many sequences as its memory has room for; a device that
// cannot bind their cache takes fewer.
TEST_F(RangesFit, SequencesAreHalvedUntilTheDeviceCanBindTheirCache) {
  const gpu::Device& device = *test::machine().device;
  const std::uint64_t bound =
      std::min(device.limits().storage_binding_bytes_max, device.limits().buffer_bytes_max);
  const auto& attention = model_->model.config.attention;
  EngineOptions options{.layers = {1, 2}, .context = 1024, .sequences = 8};
  EXPECT_EQ(sequences_that_fit(device, model_->model, options), 8u);
  // Bytes of the f16 keys of a position.
  const std::uint64_t position = std::uint64_t{attention.kv_rows()} * 2;
  options.sequences = 256;
  options.context = static_cast<std::uint32_t>(bound / position / 32 / 64 * 64);
  EXPECT_EQ(sequences_that_fit(device, model_->model, options), 32u);
  // A cache with a budget has as many pages as fit, for any number of sequences.
  options.cache_bytes = 1 << 20;
  EXPECT_EQ(sequences_that_fit(device, model_->model, options), 256u);
}

// A worker that replaces another one in a chain may have room for fewer or more sequences.
TEST_F(RangesFit, TheRoomOfAnEngineDoesNotChangeTheBitsOfALongAnswer) {
  // The number of positions is large enough for attention to be split.
  constexpr std::size_t positions = 400;
  std::vector<std::vector<float>> hidden;
  for (const std::uint32_t room : {2u, 16u}) {
    const auto first = engine_of(
        *model_,
        {.layers = {0, 1}, .context = 512, .sequences = room, .activations = Activations::int8});
    const SequenceId id = first->open().value();
    std::vector<Token> tokens(positions);
    for (std::size_t i = 0; i < positions; ++i) tokens[i] = static_cast<Token>(40 + i * 7 % 200);
    ASSERT_TRUE(run(first->forward_tokens(id, std::move(tokens))).has_value());
    hidden.push_back(run(first->forward_tokens(id, {41})).value());
  }
  EXPECT_EQ(hidden[1], hidden[0]);
}

}  // namespace
}  // namespace weft::llm
