// Draws of several sequences: each has its own settings and its own tokens for penalties.
#include "engine/llm/gpu/token_sampling.h"

#include "engine/llm/gpu/test_parts.h"

namespace weft::llm {
namespace {

using test::Command;
using test::Parts;

class TokenSamplingTest : public testing::Test {
 protected:
  TokenSampling::Draw record(const std::vector<SequenceId>& ids) {
    gpu::Encoder encoder = parts_.passes.encoder("test");
    TokenSampling::Draw draw;
    {
      gpu::Pass pass = encoder.begin_pass("test");
      draw = parts_.sampling.record(pass, ids);
    }
    parts_.submit(std::move(encoder));
    return draw;
  }
  static constexpr SequenceId first{0}, second{1};
  Parts parts_{{.engine = {.context = 64, .sequences = 2}}};
};

TEST_F(TokenSamplingTest, NumbersDrawsAndCountsTheirDispatches) {
  parts_.sampling.set_sampling(second, {.temperature = 1, .presence_penalty = 0.5F});

  const TokenSampling::Draw best = record({first}), penalised = record({first, second});

  EXPECT_EQ(best.step, 0u);
  EXPECT_EQ(penalised.step, 1u);
  EXPECT_LT(best.dispatches, penalised.dispatches);
  EXPECT_EQ(parts_.instance->count(Command::Kind::dispatch),
            best.dispatches + penalised.dispatches);
}

TEST_F(TokenSamplingTest, RemembersOnlyWhereThereArePenaltiesAndOnlyTheirWindow) {
  const std::vector<Token> tokens = Parts::tokens(9);
  parts_.instance->forget_commands();

  parts_.sampling.remember(first, {.temperature = 1}, tokens, 9);
  EXPECT_EQ(parts_.instance->count(Command::Kind::write), 0u);
  parts_.sampling.remember(first, {.presence_penalty = 1, .penalty_window = 4}, tokens, 9);

  std::uint64_t bytes = 0;
  for (const Command& command : parts_.instance->commands())
    bytes += command.kind == Command::Kind::write ? command.size : 0;
  EXPECT_EQ(bytes, 4 * sizeof(Token));
}

TEST_F(TokenSamplingTest, ReadsATokenAndItsLogProbability) {
  const Token token = 77;
  const float logprob = -1.5F;
  ByteVector bytes(TokenSampling::drawn_bytes);
  std::memcpy(bytes.data(), &token, 4);
  std::memcpy(bytes.data() + 4, &logprob, 4);

  const Drawn drawn = TokenSampling::drawn_of(bytes);

  EXPECT_EQ(drawn.token, 77);
  EXPECT_EQ(drawn.logprob, -1.5F);
}

TEST(TokenSampling, DrawsNothingWithoutTheLastLayer) {
  Parts parts({.engine = {.layers = {0, 1}, .context = 64}});

  EXPECT_FALSE(parts.sampling.is_loaded());
  parts.sampling.set_sampling(SequenceId{0}, {.temperature = 1});  // The call has no effect.
}

}  // namespace
}  // namespace weft::llm
