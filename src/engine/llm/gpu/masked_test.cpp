// Answers under grammars that the GPU draws: each has the tokens and hidden states that it has if
// the CPU chooses among its logits, both alone and beside other answers.
#include <array>
#include <functional>
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

constexpr std::array<std::string_view, 4> rules = {
    "root ::= (word \" \"){40}\nword ::= [a-zA-Z,.']+",
    R"(root ::= "{\"city\": \"" [A-Z] [a-z]{2,9} "\", \"sure\": " ("true" | "false") "}")",
    R"(root ::= "[" [0-9]+ (", " [0-9]+){2,6} "]")",
    // The mask of this grammar changes with each token; sometimes two tokens are fixed.
    R"(root ::= ([a-z] [0-9] | "qu" [0-9]){30})"};

class Masked : public test::GpuEngineTest, public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    GpuEngineTest::SetUp();
    const auto path = weft::test::find_data(std::string("models/") + GetParam() + ".gguf");
    if (!path) GTEST_SKIP() << weft::test::missing_data(GetParam());
    model_ = std::move(*test::open_model(*path));
    tokenizer_ = tokenizer::Tokenizer::create(model_->file.metadata).value();
    grammars_ = std::make_unique<grammar::Grammars>(*tokenizer_);
    engine_ = engine_of(*model_, {.context = 192, .sequences = 5});
  }
  // Question 4 has no grammar. If `masked` is true, the engine draws; otherwise a bias of 0 makes
  // the CPU choose.
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
  // Answers the questions with these numbers together.
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
    const auto together = answers({0, 1, 2, 3, 4}, temperature, true);
    for (std::size_t number = 0; number < 5; ++number) {
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

// Several tokens are drawn ahead while the mask stays the same, as they are without a mask.
TEST_P(Masked, AreDrawnAheadWhileTheMaskStays) {
  if (engine_->config().delta_net) GTEST_SKIP() << "a recurrent state cannot go back";
  Said said;
  Request request = question(0, 0, true, said);
  request.constraint = grammars_->begin("root ::= [a-zA-Z ,.']{1000}", {}).value();
  request.tokens_max = 60;
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
  EXPECT_EQ(said.tokens.size(), 60u);
  EXPECT_GE(ahead, 2u);
}

// The device reads each token while the next mask is computed: no token is drawn twice, whatever
// the masks are, and each row has the tokens that it has alone and without reading ahead.
TEST_P(Masked, AreReadOnWhileTheirMasksAreFound) {
  const std::vector<Token> prompt = tokenizer_->encode("The capital of Japan", {}).value();
  constexpr std::size_t tokens_max = 24;
  const auto parity = [&](std::size_t drawn) {
    const std::uint64_t word = drawn % 2 == 0 ? 0x5555555555555555 : 0xAAAAAAAAAAAAAAAA;
    return std::vector<std::uint64_t>((engine_->config().vocabulary + 63) / 64, word);
  };
  struct Row {
    SequenceId id{};
    std::vector<Token> said{};
    std::vector<float> hidden{};
  };
  // Row 1 has masks. Row 2 is given tokens on the way, as if a grammar fixed them.
  const auto begin = [&](Row& row, std::size_t number) {
    row.id = engine_->open().value();
    const float temperature = static_cast<float>(number) * 0.7f;
    engine_->set_sampling(row.id,
                          {.temperature = temperature, .repetition_penalty = 1.1f, .seed = 3});
    EXPECT_TRUE(run(engine_->append(row.id, prompt)));
  };
  const auto before_draw = [&](Row& row, std::size_t number, std::size_t drawn) {
    if (number == 1) engine_->set_mask(row.id, parity(drawn));
    if (number == 2 && drawn % 7 == 3) {
      EXPECT_TRUE(run(engine_->append(row.id, std::vector<Token>{11, 12})));
    }
  };
  const auto finish = [&](Row& row) {
    row.hidden = run(engine_->last_hidden(row.id)).value();
    engine_->set_mask(row.id, {});
    engine_->close(row.id);
  };
  for (const Activations activations : {Activations::f32, Activations::int8}) {
    engine_ = engine_of(*model_, {.context = 192, .sequences = 3, .activations = activations});
    std::array<Row, 3> alone, together;
    for (std::size_t number = 0; number < alone.size(); ++number) {
      Row& row = alone[number];
      begin(row, number);
      for (std::size_t i = 0; i < tokens_max; ++i) {
        // Reads the drawn token in a pass of its own, before the tokens that row 2 is given.
        EXPECT_TRUE(run(engine_->last_hidden(row.id)));
        before_draw(row, number, i);
        row.said.push_back(run(engine_->draw({row.id}, 0)).value().front().token);
      }
      finish(row);
    }

    for (std::size_t number = 0; number < together.size(); ++number)
      begin(together[number], number);
    const EngineCounters before = engine_->counters();
    for (std::size_t i = 0; i < tokens_max; ++i) {
      for (std::size_t number = 0; number < together.size(); ++number)
        before_draw(together[number], number, i);
      const auto drawn =
          run(engine_->draw_and_read({together[0].id, together[1].id, together[2].id}));
      ASSERT_TRUE(drawn);
      for (std::size_t number = 0; number < together.size(); ++number) {
        together[number].said.push_back((*drawn)[number].token);
        EXPECT_EQ(engine_->drawn_ahead(together[number].id), 0u);
      }
    }
    EXPECT_EQ(engine_->counters().decode_steps - before.decode_steps, tokens_max);
    for (Row& row : together) finish(row);

    for (std::size_t number = 0; number < alone.size(); ++number) {
      const std::string what =
          std::to_string(number) + " with " + std::string(to_string(activations));
      EXPECT_EQ(together[number].said, alone[number].said) << what;
      EXPECT_EQ(together[number].hidden, alone[number].hidden) << what;
    }
  }
}

// Another engine that continues an answer from its middle gives the same tokens and hidden states
// as the first engine, to the last bit, because it reads each token in the same passes.
TEST_P(Masked, GoOnElsewhereAsTheyWouldHave) {
  for (const Activations activations : {Activations::f32, Activations::int8}) {
    engine_ = engine_of(*model_, {.context = 192, .sequences = 1, .activations = activations});
    for (const std::size_t number : {1u, 3u}) {
      Said whole;
      ASSERT_TRUE(run(Generator(*engine_, *tokenizer_).generate(question(number, 1, true, whole))));
      for (const std::size_t cut : {3u, 10u, 17u}) {
        Said rest;
        Request request = question(number, 1, true, rest);
        request.answered.assign(whole.tokens.begin(),
                                whole.tokens.begin() + static_cast<std::ptrdiff_t>(cut));

        const auto done = run(Generator(*engine_, *tokenizer_).generate(std::move(request)));

        ASSERT_TRUE(done) << done.error().message;
        const std::string what = std::to_string(number) + " from " + std::to_string(cut) +
                                 " with " + std::string(to_string(activations));
        EXPECT_TRUE(std::ranges::equal(rest.tokens, std::span(whole.tokens).subspan(cut))) << what;
        for (const auto& [length, hidden] : rest.hidden)
          EXPECT_EQ(hidden, whole.hidden.at(length)) << what << " at " << length;
      }
    }
  }
}

// Settings that the device cannot draw with a mask are left to the CPU, which applies the grammar.
TEST_P(Masked, LeaveABiasCandidatesAndCutsToTheProcessor) {
  const Said plain = answers({3}, 0, true)[3];
  const auto say = [&](const std::function<void(Request&)>& change) {
    Said said;
    Request request = question(3, 0, true, said);
    change(request);
    EXPECT_TRUE(run(Generator(*engine_, *tokenizer_).generate(std::move(request))));
    return said;
  };

  const Said biased =
      say([&](Request& request) { request.bias = {{.token = plain.tokens.at(0), .bias = -100}}; });
  EXPECT_NE(biased.tokens.at(0), plain.tokens.at(0));
  EXPECT_EQ(biased.tokens.size(), plain.tokens.size());

  std::size_t candidates = 0;
  (void)say([&](Request& request) {
    request.top = 2;
    request.on_token = [&](const GeneratedToken& token, std::string_view) {
      candidates += token.top.size();
    };
  });
  EXPECT_EQ(candidates, 2 * plain.tokens.size());

  // top_k keeps the best of the tokens that the grammar allows, which are not the best of all
  // tokens.
  const Said cut =
      say([&](Request& request) { request.sampling = {.temperature = 1, .top_k = 2, .seed = 5}; });
  EXPECT_EQ(cut.tokens.size(), plain.tokens.size());
}

// Each token is drawn only once, even with a mask that changes at every token.
TEST_P(Masked, AreDrawnOnceWhereTheMaskAlwaysChanges) {
  Said said;
  const Request request = question(3, 0, true, said);
  Generator generator(*engine_, *tokenizer_);
  const std::uint64_t before = engine_->counters().decode_steps;

  const auto done = run(generator.generate(request, [](std::string_view) { return true; }));

  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(said.tokens.size(), 30u);
  EXPECT_LE(engine_->counters().decode_steps - before, 31u);
}

// If the mask of one row of a batch changes, the row takes back only its own tokens. The other rows
// keep the tokens that are drawn ahead for them, and none of these tokens is drawn twice.
TEST_P(Masked, TakeBackTheirOwnTokensAlone) {
  if (engine_->config().delta_net) GTEST_SKIP() << "a recurrent state cannot go back";
  const std::vector<Token> prompt = tokenizer_->encode("The capital of Japan", {}).value();
  // The mask allows even and odd tokens by turns, each for `each` tokens.
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
    // First, each row is drawn alone, one token at a time.
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

    // The test then draws all rows together, with up to four tokens ahead.
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
