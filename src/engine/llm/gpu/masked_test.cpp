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
  request.hidden_every = 2;
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

// A row of a batch whose mask changes takes back its own tokens; the others keep what is drawn
// ahead of them, and nothing of theirs is drawn twice.
TEST_P(Masked, TakeBackTheirOwnTokensAlone) {
  if (engine_->config().delta_net) GTEST_SKIP() << "a recurrent state cannot go back";
  const std::vector<Token> prompt = tokenizer_->encode("The capital of Japan", {}).value();
  // Even tokens and odd ones by turns, `each` at a time.
  constexpr std::size_t tokens_max = 36, each = 3;
  const auto parity = [&](std::size_t drawn) {
    const std::uint64_t word = drawn / each % 2 == 0 ? 0x5555555555555555 : 0xAAAAAAAAAAAAAAAA;
    return std::vector<std::uint64_t>((engine_->config().vocabulary + 63) / 64, word);
  };
  for (const Activations activations : {Activations::f32, Activations::int8}) {
    engine_ = engine_of(*model_, {.context = 192, .sequences = 3, .activations = activations});
    const auto begin = [&](float temperature) {
      const SequenceId id = engine_->open().value();
      engine_->set_sampling(id,
                            {.temperature = temperature, .repetition_penalty = 1.1f, .seed = 3});
      EXPECT_TRUE(run(engine_->append(id, prompt)));
      return id;
    };
    // Alone, one token at a time.
    std::array<std::vector<Token>, 3> alone;
    for (std::size_t row = 0; row < alone.size(); ++row) {
      const SequenceId id = begin(static_cast<float>(row) * 0.7f);
      for (std::size_t i = 0; i < tokens_max; ++i) {
        if (row == 1) engine_->set_mask(id, parity(i));
        alone[row].push_back(run(engine_->draw({id}, 0)).value().front().token);
      }
      engine_->set_mask(id, {});
      engine_->close(id);
    }

    // Together, four ahead.
    std::array<SequenceId, 3> ids{};
    for (std::size_t row = 0; row < ids.size(); ++row)
      ids[row] = begin(static_cast<float>(row) * 0.7f);
    const std::uint64_t steps_before = engine_->counters().decode_steps;
    std::array<std::vector<Token>, 3> said;
    std::size_t changes = 0, steps = 0;
    for (; said[1].size() < tokens_max; ++steps) {
      if (said[1].size() % each == 0 && said[1].size() / each == changes) {
        const std::uint32_t ahead = engine_->drawn_ahead(ids[0]);
        engine_->set_mask(ids[1], parity(said[1].size()));
        EXPECT_EQ(engine_->drawn_ahead(ids[0]), ahead);
        EXPECT_EQ(engine_->drawn_ahead(ids[1]), 0u);
        ++changes;
      }
      std::uint32_t most = 0;
      for (const SequenceId id : ids) most = std::max(most, engine_->drawn_ahead(id));
      std::vector<SequenceId> asked;
      std::vector<std::size_t> rows;
      for (std::size_t row = 0; row < ids.size(); ++row) {
        if (engine_->drawn_ahead(ids[row]) < most) continue;
        asked.push_back(ids[row]);
        rows.push_back(row);
      }
      const std::vector<Drawn> drawn = run(engine_->draw(asked, 4)).value();
      for (std::size_t i = 0; i < rows.size(); ++i) said[rows[i]].push_back(drawn[i].token);
    }
    const std::uint64_t passes = engine_->counters().decode_steps - steps_before;
    EXPECT_EQ(said[0].size(), steps);
    EXPECT_EQ(passes, steps + engine_->drawn_ahead(ids[0]));
    EXPECT_GT(steps, tokens_max) << "masks took tokens back";
    for (std::size_t row = 0; row < ids.size(); ++row) {
      said[row].resize(std::min(said[row].size(), tokens_max));
      EXPECT_EQ(said[row], alone[row]) << row << " with " << to_string(activations);
    }
  }
}

}  // namespace
}  // namespace weft::llm
