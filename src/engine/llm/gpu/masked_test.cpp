// Answers that are held to grammars while the GPU draws them: each says what it says where the
// processor chooses among its logits, alone and beside others, and tells the same hidden states.
#include <array>
#include <map>

#include "engine/grammar/constraint.h"
#include "engine/llm/generator.h"
#include "engine/llm/gpu/test_gpu.h"
#include "engine/tokenizer/tokenizer.h"

namespace weft::llm {
namespace {

using test::run;

struct Said {
  std::vector<Token> tokens;
  std::map<std::uint32_t, std::vector<float>> hidden;
  StopReason stop = StopReason::cancelled;

  friend bool operator==(const Said&, const Said&) = default;
};

constexpr std::array<std::string_view, 3> rules = {
    "root ::= (word \" \"){40}\nword ::= [a-zA-Z,.']+",
    R"(root ::= "{\"city\": \"" [A-Z] [a-z]{2,9} "\", \"sure\": " ("true" | "false") "}")",
    R"(root ::= "[" [0-9]+ (", " [0-9]+){2,6} "]")"};

class Masked : public test::GpuEngineTest, public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    GpuEngineTest::SetUp();
    const auto path = weft::test::find_data(std::string("models/") + GetParam() + ".gguf");
    if (!path) GTEST_SKIP() << weft::test::missing_data(GetParam());
    model_ = std::move(*test::open_model(*path));
    tokenizer_ = tokenizer::Tokenizer::create(model_->file.metadata).value();
    grammars_ = std::make_unique<grammar::Grammars>(*tokenizer_);
    engine_ = engine_of(*model_, {.context = 192, .sequences = 4});
  }
  // Number 3 is held to nothing. `masked`: the engine draws; otherwise a bias that changes nothing
  // leaves it to the processor.
  Request question(std::size_t number, float temperature, bool masked, Said& said) {
    Request request;
    request.prompt = tokenizer_->encode("The capital of Japan", {}).value();
    request.sampling = {.temperature = temperature, .seed = 7 + number};
    request.tokens_max = 30;
    if (number < rules.size()) request.constraint = grammars_->begin(rules[number], {}).value();
    if (!masked) request.bias = {{.token = 5, .bias = 0}};
    request.hidden_every = 4;
    request.on_token = [&said](const GeneratedToken& token, std::string_view) {
      said.tokens.push_back(token.id);
    };
    request.on_hidden = [&said](std::uint32_t tokens, std::span<const float> hidden) {
      said.hidden[tokens].assign(hidden.begin(), hidden.end());
    };
    return request;
  }
  // All that are named, together.
  std::map<std::size_t, Said> answers(std::vector<std::size_t> numbers, float temperature,
                                      bool masked) {
    std::map<std::size_t, Said> out;
    Generator generator(*engine_, *tokenizer_);
    for (const std::size_t number : numbers) {
      Said& said = out[number];
      EXPECT_TRUE(generator.add(question(number, temperature, masked, said), {},
                                [&said](Result<Generation> done) {
                                  ASSERT_TRUE(done) << done.error().message;
                                  said.stop = done->stop;
                                }));
    }
    EXPECT_TRUE(run(generator.run()));
    return out;
  }

  std::unique_ptr<test::OpenModel> model_;
  std::unique_ptr<const tokenizer::Tokenizer> tokenizer_;
  std::unique_ptr<grammar::Grammars> grammars_;
  std::unique_ptr<Engine> engine_;
};
INSTANTIATE_TEST_SUITE_P(Models, Masked,
                         testing::Values("tiny-llama-chat-q8_0", "tiny-qwen35-short-q4_k_m"),
                         test::test_name);

TEST_P(Masked, SayWhatTheProcessorWouldChoose) {
  for (const float temperature : {0.0f, 1.0f}) {
    const auto together = answers({0, 1, 2, 3}, temperature, true);
    for (std::size_t number = 0; number < 4; ++number) {
      const std::string what = std::to_string(number) + " at " + std::to_string(temperature);
      const Said chosen = answers({number}, temperature, false)[number];
      EXPECT_GT(chosen.tokens.size(), 5u);
      EXPECT_EQ(answers({number}, temperature, true)[number].tokens, chosen.tokens) << what;
      EXPECT_EQ(together.at(number).tokens, chosen.tokens) << what;
      EXPECT_EQ(together.at(number).stop, chosen.stop) << what;
      EXPECT_EQ(together.at(number).hidden, chosen.hidden) << what;
    }
  }
}

// Where the mask stays, tokens are drawn several at a time, as without one.
TEST_P(Masked, AreDrawnAheadWhileTheMaskStays) {
  if (engine_->config().delta_net) GTEST_SKIP() << "a recurrent state cannot go back";
  Said said;
  Request request = question(0, 0, true, said);
  request.on_hidden = {};
  Generator generator(*engine_, *tokenizer_);
  std::uint32_t ahead = 0;
  request.on_token = [&](const GeneratedToken& token, std::string_view) {
    said.tokens.push_back(token.id);
    ahead = std::max(ahead, engine_->drawn_ahead(SequenceId{0}));
  };

  const auto done =
      run(generator.generate(std::move(request), [](std::string_view) { return true; }));

  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(said.tokens.size(), 30u);
  EXPECT_GE(ahead, 2u);
}

}  // namespace
}  // namespace weft::llm
