// The GPU engine gives the answers of llama.cpp, format by format, and keeps the promises of Engine
// for prompts in parts, tokens drawn ahead, and sequences that are drawn together, rewound or split
// into ranges of layers.
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <random>
#include <string_view>

#include "common/base/long_tests.h"
#include "engine/llm/cpu/cpu_engine.h"
#include "engine/llm/gpu/test_gpu.h"
#include "engine/llm/run_now.h"
#include "engine/llm/test_stories.h"

namespace weft::llm {
namespace {

using test::GpuEngineTest;
using test::run;

class GpuExpected : public GpuEngineTest, public testing::WithParamInterface<const char*> {};

// Keeps the first cases, up to 120 tokens together.
void shorten(std::vector<test::ExpectedCase>& cases) {
  std::size_t tokens = 0, kept = 0;
  while (kept < cases.size() && tokens < 120) tokens += cases[kept++].tokens.size();
  cases.resize(kept);
}

TEST_P(GpuExpected, AnswersAsLlamaCpp) {
  const std::string name = GetParam();
  const auto path = weft::test::find_data("models/" + name + ".gguf");
  const auto expected_path = weft::test::find_data("models/expected/" + name + ".json");
  if (!path || !expected_path) GTEST_SKIP() << weft::test::missing_data("models/" + name + ".gguf");
  auto cases = test::read_expected(*expected_path);
  ASSERT_TRUE(cases.has_value()) << cases.error().message;
  // The quick run reads the whole text only with the f16 file of each architecture. The other
  // formats differ only in the unpacking of weights, which every token of a text tests.
  if (!weft::test::long_tests() && !name.ends_with("-f16")) shorten(*cases);
  const auto model = test::open_model(*path);
  ASSERT_TRUE(model.has_value()) << model.error().message;
  const auto engine = engine_of(**model, {.kv = KvFormat::f32});

  const auto agreement = run(test::compare_with_expected(*engine, *cases));

  ASSERT_TRUE(agreement.has_value()) << agreement.error().message;
  EXPECT_GT(agreement->tokens, 100u);
  RecordProperty("agreement", agreement->text());
  std::printf("  %s: %s\n", name.c_str(), agreement->text().c_str());
}

INSTANTIATE_TEST_SUITE_P(
    Models, GpuExpected,
    testing::Values("tiny-llama-chat-f16", "tiny-llama-chat-q8_0", "tiny-llama-chat-q4_0",
                    "tiny-llama-chat-q4_1", "tiny-llama-chat-q5_0", "tiny-llama-chat-q5_1",
                    "tiny-llama-chat-q4_k_m", "tiny-llama-chat-q5_k_m", "tiny-llama-chat-q6_k",
                    "tiny-qwen2-chat-f16", "tiny-qwen2-chat-q8_0", "tiny-qwen2-chat-q4_k_m",
                    "tiny-qwen35-chat-f16", "tiny-qwen35-chat-q8_0", "tiny-qwen35-chat-q4_k_m",
                    "tiny-qwen2-short-q4_k_m", "tiny-qwen35-short-q4_k_m", "tiny-qwen3-random-f16",
                    "tiny-gemma3-random-q8_0", "tiny-mistral-random-f16",
                    "tiny-mistral3-random-f16", "tiny-qwen3moe-random-f16",
                    "tiny-qwen3moe-random-q4_k_m"),
    test::test_name);

class GpuStories : public GpuEngineTest, public testing::WithParamInterface<const char*> {};
INSTANTIATE_TEST_SUITE_P(Formats, GpuStories, testing::ValuesIn(test::story_formats),
                         test::test_name);

TEST_P(GpuStories, AreToldAsByLlamaCpp) {
  const std::string name = std::string("stories260K-") + GetParam() + ".gguf";
  if (!weft::test::find_data("data/gguf/" + name))
    GTEST_SKIP() << weft::test::missing_data("data/gguf/" + name);
  const auto stories = test::read_stories(name);
  ASSERT_TRUE(stories.has_value()) << stories.error().message;
  ASSERT_EQ(stories->size(), 3u);
  for (const test::Story& story : *stories) {
    const auto model = test::stories_model(story.model);
    const auto engine = engine_of(*model, {.kv = KvFormat::f32});

    const auto told = run(test::tell(*engine, story));

    ASSERT_TRUE(told.has_value()) << told.error().message;
  }
}

// Promises of Engine, for models with attention and with recurrent states.
class GpuPromises : public GpuEngineTest, public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    GpuEngineTest::SetUp();
    const auto path = weft::test::find_data(std::string("models/") + GetParam() + ".gguf");
    if (!path) GTEST_SKIP() << weft::test::missing_data(GetParam());
    auto opened = test::open_model(*path);
    ASSERT_TRUE(opened.has_value()) << opened.error().message;
    model_ = std::move(*opened);
  }
  static std::vector<Token> prompt(std::size_t count, Token first = 40) {
    std::vector<Token> tokens;
    for (std::size_t i = 0; i < count; ++i)
      tokens.push_back(first + static_cast<Token>(i * 7 % 200));
    return tokens;
  }
  static std::vector<Token> draw_all(Engine& engine, SequenceId sequence, std::uint32_t count,
                                     bool ahead) {
    std::vector<Token> tokens;
    for (std::uint32_t i = 0; i < count; ++i)
      tokens.push_back(run(engine.draw({sequence}, ahead ? count - i - 1 : 0)).value()[0].token);
    return tokens;
  }
  std::unique_ptr<test::OpenModel> model_;
};
INSTANTIATE_TEST_SUITE_P(Models, GpuPromises,
                         testing::Values("tiny-llama-chat-q8_0", "tiny-qwen2-chat-q4_k_m",
                                         "tiny-qwen35-chat-q8_0", "tiny-gemma3-random-q8_0",
                                         "tiny-qwen3moe-random-f16"),
                         test::test_name);

TEST_P(GpuPromises, GivesTheLogitsOfTheCpuHoweverAPromptIsCut) {
  const auto engine = engine_of(*model_, {.sequences = 3, .kv = KvFormat::f32});
  const auto cpu = create_cpu_engine(model_->model, *model_->source, {.kv = KvFormat::f32}).value();
  const std::vector<Token> tokens = prompt(150);
  const SequenceId on_cpu = cpu->open().value(), whole = engine->open().value(),
                   parts = engine->open().value();
  ASSERT_TRUE(run_now(cpu->append(on_cpu, tokens)).has_value());
  const std::vector<float> expected = run_now(cpu->logits(on_cpu)).value();

  ASSERT_TRUE(run(engine->append(whole, tokens)).has_value());
  for (std::size_t begin = 0; begin < tokens.size(); begin += 13) {
    const std::size_t end = std::min(begin + 13, tokens.size());
    ASSERT_TRUE(run(engine->append(parts, {tokens.begin() + static_cast<std::ptrdiff_t>(begin),
                                           tokens.begin() + static_cast<std::ptrdiff_t>(end)}))
                    .has_value());
  }

  // The bound allows for sums of up to 1,024 f32 products in another order, over a few layers.
  for (const SequenceId sequence : {whole, parts}) {
    const std::vector<float> logits = run(engine->logits(sequence)).value();
    ASSERT_EQ(logits.size(), expected.size());
    for (std::size_t i = 0; i < logits.size(); ++i) ASSERT_NEAR(logits[i], expected[i], 5e-3) << i;
  }
}

TEST_P(GpuPromises, DrawsTheSameAheadAndOneByOne) {
  const auto engine = engine_of(*model_, {.sequences = 2});
  const SequenceId one = engine->open().value(), ahead = engine->open().value();
  for (const SequenceId sequence : {one, ahead})
    ASSERT_TRUE(run(engine->append(sequence, prompt(9))).has_value());

  EXPECT_EQ(draw_all(*engine, one, 24, false), draw_all(*engine, ahead, 24, true));
  EXPECT_EQ(engine->length(ahead), 33u);
}

TEST_P(GpuPromises, DrawsSequencesTogetherAsAlone) {
  const auto engine = engine_of(*model_, {.sequences = 3});
  std::vector<std::vector<Token>> alone;
  for (Token i = 0; i < 3; ++i) {
    const SequenceId sequence = engine->open().value();
    ASSERT_TRUE(run(engine->append(sequence, prompt(5 + static_cast<std::size_t>(i) * 9, 40 + i)))
                    .has_value());
    alone.push_back(draw_all(*engine, sequence, 12, true));
    engine->close(sequence);
  }

  std::vector<SequenceId> sequences;
  for (Token i = 0; i < 3; ++i) {
    sequences.push_back(engine->open().value());
    ASSERT_TRUE(
        run(engine->append(sequences.back(), prompt(5 + static_cast<std::size_t>(i) * 9, 40 + i)))
            .has_value());
  }
  std::vector<std::vector<Token>> together(3);
  for (std::uint32_t step = 0; step < 12; ++step) {
    const auto drawn = run(engine->draw(sequences, 11 - step)).value();
    for (std::size_t i = 0; i < sequences.size(); ++i) together[i].push_back(drawn[i].token);
    if (step == 5) {  // The third sequence leaves while more draws of all three are under way.
      engine->close(sequences.back());
      sequences.pop_back();
    }
  }
  alone[2].resize(6);
  EXPECT_EQ(together, alone);
}

TEST_P(GpuPromises, GoesOnAfterWorkAheadThatWasNotWanted) {
  const auto engine = engine_of(*model_, {.sequences = 2});
  const SequenceId straight = engine->open().value(), back = engine->open().value();
  std::vector<Token> tokens = prompt(10);
  ASSERT_TRUE(run(engine->append(back, tokens)).has_value());
  const std::vector<Token> drawn{run(engine->draw({back}, 100)).value()[0].token,
                                 run(engine->draw({back}, 100)).value()[0].token};
  tokens.insert(tokens.end(), drawn.begin(), drawn.end());
  const std::vector<Token> next = prompt(4, 90);
  tokens.insert(tokens.end(), next.begin(), next.end());
  ASSERT_TRUE(run(engine->append(straight, tokens)).has_value());

  ASSERT_TRUE(run(engine->append(back, next)).has_value());

  const std::vector<float> expected = run(engine->logits(straight)).value(),
                           logits = run(engine->logits(back)).value();
  for (std::size_t i = 0; i < logits.size(); ++i) ASSERT_NEAR(logits[i], expected[i], 5e-3) << i;
  EXPECT_EQ(draw_all(*engine, straight, 8, true), draw_all(*engine, back, 8, true));
}

// The drawn token is the first position of the second page, because a page has 64 positions.
TEST_P(GpuPromises, GivesTheLogitsBehindADrawnTokenThatBeginsAPage) {
  const auto engine = engine_of(*model_, {.sequences = 2});
  const SequenceId drawn = engine->open().value(), straight = engine->open().value();
  std::vector<Token> tokens = prompt(64);
  ASSERT_TRUE(run(engine->append(drawn, tokens)).has_value());
  tokens.push_back(run(engine->draw({drawn}, 0)).value()[0].token);
  const std::vector<float> logits = run(engine->logits(drawn)).value();

  ASSERT_TRUE(run(engine->append(straight, tokens)).has_value());
  const std::vector<float> expected = run(engine->logits(straight)).value();
  for (std::size_t i = 0; i < logits.size(); ++i) ASSERT_NEAR(logits[i], expected[i], 5e-3) << i;
}

TEST_P(GpuPromises, ForgetsWhatIsRewound) {
  const auto engine = engine_of(*model_, {.sequences = 2});
  const SequenceId straight = engine->open().value(), back = engine->open().value();
  const std::vector<Token> tokens = prompt(20);
  ASSERT_TRUE(run(engine->append(straight, tokens)).has_value());

  ASSERT_TRUE(run(engine->append(back, prompt(12))).has_value());
  (void)draw_all(*engine, back, 3, true);
  const std::uint32_t kept = engine->rewind(back, 7);
  EXPECT_EQ(kept, model_->model.config.delta_net ? 0u : 7u);
  ASSERT_TRUE(run(engine->append(back, {tokens.begin() + kept, tokens.end()})).has_value());

  EXPECT_EQ(draw_all(*engine, straight, 8, true), draw_all(*engine, back, 8, true));
}

TEST_P(GpuPromises, DrawsAsTheCpuDoesWithTheSameSeed) {
  const auto engine = engine_of(*model_, {.kv = KvFormat::f32});
  const auto cpu = create_cpu_engine(model_->model, *model_->source, {.kv = KvFormat::f32}).value();
  const std::vector<Sampling> samplings = {
      {.temperature = 0.9f, .seed = 5},
      {.temperature = 1.2f, .top_k = 20, .top_p = 0.9f, .min_p = 0.02f, .seed = 1ull << 40},
      {.temperature = 0.7f,
       .repetition_penalty = 1.3f,
       .presence_penalty = 0.2f,
       .frequency_penalty = 0.1f,
       .penalty_window = 16,
       .seed = 9},
      {.repetition_penalty = 1.5f}};
  std::size_t same = 0;
  constexpr std::size_t count = 24;
  for (const Sampling& sampling : samplings) {
    const SequenceId on_gpu = engine->open().value(), on_cpu = cpu->open().value();
    ASSERT_TRUE(run(engine->append(on_gpu, prompt(12))).has_value());
    ASSERT_TRUE(run_now(cpu->append(on_cpu, prompt(12))).has_value());
    engine->set_sampling(on_gpu, sampling);
    cpu->set_sampling(on_cpu, sampling);
    const std::vector<Token> drawn = draw_all(*engine, on_gpu, count, true);
    for (const Token token : drawn) {
      if (run_now(cpu->draw({on_cpu}, 0)).value()[0].token != token) break;
      ++same;
    }
    engine->close(on_gpu);
    cpu->close(on_cpu);
  }
  // Logits differ by rounding, so that a draw between two nearly equal tokens may rarely differ.
  EXPECT_GE(same, 3 * count);
}

TEST_P(GpuPromises, RunsARangeOfLayersWithTheNumbersOfTheWhole) {
  const std::uint32_t layers = model_->model.config.layers, cut = layers / 2;
  const auto whole = engine_of(*model_, {}), first = engine_of(*model_, {.layers = {0, cut}}),
             last = engine_of(*model_, {.layers = {cut, layers}});
  const SequenceId in_whole = whole->open().value(), in_first = first->open().value(),
                   in_last = last->open().value();
  ASSERT_TRUE(run(whole->append(in_whole, prompt(11))).has_value());

  const auto hidden = run(first->forward_tokens(in_first, prompt(11)));
  ASSERT_TRUE(hidden.has_value()) << hidden.error().message;
  ASSERT_TRUE(run(last->forward(in_last, *hidden)).has_value());

  EXPECT_EQ(run(last->logits(in_last)).value(), run(whole->logits(in_whole)).value());
}

// Draws token by token, as in a chain: an engine with the last layers, which is given hidden
// states, draws the tokens of an engine with all layers. Several sequences on one engine do not
// disturb each other.
TEST_P(GpuPromises, DrawsBehindHiddenStatesWhatTheWholeDraws) {
  const std::uint32_t layers = model_->model.config.layers, cut = layers / 2;
  const auto whole = engine_of(*model_, {.sequences = 2}),
             first = engine_of(*model_, {.layers = {0, cut}, .sequences = 2}),
             last = engine_of(*model_, {.layers = {cut, layers}, .sequences = 2});
  const std::vector<Sampling> samplings = {{},
                                           {.temperature = 0.9f,
                                            .repetition_penalty = 1.3f,
                                            .presence_penalty = 0.2f,
                                            .penalty_window = 16,
                                            .seed = 5}};
  struct One {
    Sampling sampling;
    SequenceId in_whole, in_first, in_last;
    std::vector<Token> tokens, rows;  // All tokens so far; the tokens that are read next.
  };
  std::vector<One> all;
  for (const Sampling& sampling : samplings) {
    One one{.sampling = sampling,
            .in_whole = whole->open().value(),
            .in_first = first->open().value(),
            .in_last = last->open().value(),
            .tokens = prompt(11 + all.size()),
            .rows = {}};
    one.rows = one.tokens;
    ASSERT_TRUE(run(whole->append(one.in_whole, one.tokens)).has_value());
    whole->set_sampling(one.in_whole, sampling);
    all.push_back(std::move(one));
  }

  for (int step = 0; step < 12; ++step) {
    for (One& one : all) {
      const Drawn expected = run(whole->draw({one.in_whole}, 0)).value().front();
      auto hidden = run(first->forward_tokens(one.in_first, one.rows));
      ASSERT_TRUE(hidden.has_value()) << hidden.error().message;
      ASSERT_TRUE(run(last->absorb(one.in_last, *hidden)).has_value());
      const auto drawn = run(last->draw_behind(one.in_last, one.sampling, one.tokens));
      ASSERT_TRUE(drawn.has_value()) << drawn.error().message;

      EXPECT_EQ(drawn->token, expected.token) << step;
      EXPECT_NEAR(drawn->logprob, expected.logprob, 1e-4);
      EXPECT_EQ(last->length(one.in_last), one.tokens.size())
          << "what is drawn counts for nothing yet";
      one.rows = {expected.token};
      one.tokens.push_back(expected.token);
    }
  }
  EXPECT_EQ(run(last->draw_behind(all[0].in_last, {}, {})).error().code, ErrorCode::unavailable)
      << "of other tokens than were read";
}

TEST_P(GpuPromises, RefusesWhatDoesNotFit) {
  const auto engine = engine_of(*model_, {.context = 4});
  const SequenceId sequence = engine->open().value();

  EXPECT_EQ(run(engine->append(sequence, prompt(8))).error().message,
            "8 tokens after 0 do not fit into the context of 4 (--context).");
  EXPECT_EQ(run(engine->draw({sequence}, 0)).error().message,
            "There are no logits before the first token.");
  ASSERT_TRUE(run(engine->append(sequence, prompt(3))).has_value());
  ASSERT_TRUE(run(engine->draw({sequence}, 100)).has_value());
  EXPECT_EQ(run(engine->draw({sequence}, 0)).error().message,
            "1 token after 4 does not fit into the context of 4 (--context).");
  EXPECT_FALSE(engine->open().has_value());
}

// An answer that is made without other answers beside it: the prompt is read in `parts`, then
// tokens are drawn, each with the hidden state that it came from.
struct Alone {
  std::vector<std::size_t> parts{};  // The ends of the prompt's parts.
  std::vector<Token> prompt{};
  std::vector<Drawn> drawn{};
  std::vector<std::vector<float>> hidden{};
};
Alone answer_alone(Engine& engine, std::vector<Token> prompt, std::vector<std::size_t> parts,
                   std::uint32_t count, const Sampling& sampling) {
  Alone out{.parts = std::move(parts), .prompt = std::move(prompt)};
  const SequenceId sequence = engine.open().value();
  engine.set_sampling(sequence, sampling);
  std::size_t done = 0;
  for (const std::size_t end : out.parts) {
    EXPECT_TRUE(
        run(engine.append(sequence, {out.prompt.begin() + static_cast<std::ptrdiff_t>(done),
                                     out.prompt.begin() + static_cast<std::ptrdiff_t>(end)}))
            .has_value());
    done = end;
  }
  engine.keep_hidden(sequence, 0, 1);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t length = engine.length(sequence);
    out.drawn.push_back(run(engine.draw({sequence}, count - i - 1)).value()[0]);
    out.hidden.push_back(engine.take_hidden(sequence, length).value());
  }
  engine.close(sequence);
  return out;
}
Sampling sampling_of(std::size_t i) {
  if (i % 3 == 0) return {};
  return {.temperature = 0.9f, .top_k = 40, .seed = 7 + i};
}
void expect_same(const Alone& alone, std::size_t i, const Drawn& drawn,
                 const std::vector<float>& hidden, const std::string& what) {
  EXPECT_EQ(drawn.token, alone.drawn[i].token) << what;
  EXPECT_EQ(drawn.logprob, alone.drawn[i].logprob) << what;
  EXPECT_EQ(hidden, alone.hidden[i]) << what;
}

// The arithmetic of answers: a row has the same bits if 1, 8 or 32 rows are in the pass, at any
// place in it, below and above the length from which attention is split (256 positions on a CPU
// device).
class GpuArithmetic : public GpuPromises {
 protected:
  static bool is_quick(std::initializer_list<std::string_view> parts);
  void says_the_same_among_many(Activations activations);
  void says_the_same_through_joins(Activations activations);
};
INSTANTIATE_TEST_SUITE_P(Models, GpuArithmetic,
                         testing::Values("tiny-llama-chat-q8_0", "tiny-qwen2-chat-q4_k_m",
                                         "tiny-qwen35-chat-q8_0", "tiny-gemma3-random-q8_0",
                                         "tiny-qwen3moe-random-q4_k_m"),
                         test::test_name);

// True in a long run, or if the model's name contains one of `parts`. A software GPU compiles
// products by f16 matrices for each model again, for up to a minute; int8 is tested with all
// models.
bool GpuArithmetic::is_quick(std::initializer_list<std::string_view> parts) {
  return weft::test::long_tests() || std::ranges::any_of(parts, [](std::string_view part) {
           return std::string_view(GetParam()).contains(part);
         });
}

void GpuArithmetic::says_the_same_among_many(Activations activations) {
  if (std::string_view(GetParam()).contains("qwen3moe") && !weft::test::long_tests())
    GTEST_SKIP() << "takes long on a software device; set WEFT_LONG.";
  const auto engine =
      engine_of(*model_, {.context = 320, .sequences = 32, .activations = activations});
  const std::uint32_t count = weft::test::long_tests() ? 4 : 2;
  std::vector<Alone> alone;
  for (std::size_t i = 0; i < 32; ++i) {
    const std::size_t length = i == 3 || i == 7 ? 250 + i : 3 + 2 * (i % 7);
    alone.push_back(answer_alone(*engine, prompt(length, static_cast<Token>(40 + i)), {length},
                                 count, sampling_of(i)));
  }
  for (const std::size_t rows : {std::size_t{8}, std::size_t{32}}) {
    std::vector<SequenceId> sequences;
    for (std::size_t i = 0; i < rows; ++i) {
      sequences.push_back(engine->open().value());
      engine->set_sampling(sequences[i], sampling_of(i));
      ASSERT_TRUE(run(engine->append(sequences[i], alone[i].prompt)).has_value());
      engine->keep_hidden(sequences[i], 0, 1);
    }
    for (std::uint32_t step = 0; step < count; ++step) {
      std::vector<std::uint32_t> lengths;
      for (const SequenceId sequence : sequences) lengths.push_back(engine->length(sequence));
      const auto drawn = run(engine->draw(sequences, count - step - 1)).value();
      for (std::size_t i = 0; i < rows; ++i)
        expect_same(alone[i], step, drawn[i], engine->take_hidden(sequences[i], lengths[i]).value(),
                    "row " + std::to_string(i) + " of " + std::to_string(rows) + ", token " +
                        std::to_string(step));
    }
    for (const SequenceId sequence : sequences) engine->close(sequence);
  }
}

// Sequences join, read their prompts in parts between the tokens of others, are drawn together with
// others, and leave at any time: each gives the same bits as alone.
void GpuArithmetic::says_the_same_through_joins(Activations activations) {
  const auto engine =
      engine_of(*model_, {.context = 128, .sequences = 7, .activations = activations});
  constexpr std::uint32_t count = 8;
  for (std::uint32_t seed = 0; seed < (weft::test::long_tests() ? 4u : 1u); ++seed) {
    std::mt19937 generator(seed);
    const auto random = [&](std::uint32_t below) {
      return static_cast<std::uint32_t>(generator()) % below;
    };
    std::vector<Alone> alone;
    for (std::size_t i = 0; i < 8; ++i) {
      const std::size_t length = 2 + random(50);
      std::vector<std::size_t> parts;
      for (std::size_t end = 0; end < length;) {
        end = std::min<std::size_t>(length, end + 1 + random(40));
        parts.push_back(end);
      }
      alone.push_back(answer_alone(*engine, prompt(length, static_cast<Token>(40 + 9 * i)), parts,
                                   count, sampling_of(i)));
    }
    struct Live {
      std::size_t which = 0, parts = 0, read = 0;
      std::uint32_t drawn = 0, leaves = 0;
      SequenceId sequence{};
    };
    std::vector<Live> live;
    std::size_t next = 0;
    while (next < alone.size() || !live.empty()) {
      if (next < alone.size() && live.size() < 7 && random(3) == 0) {
        live.push_back(
            {.which = next, .leaves = 1 + random(count), .sequence = engine->open().value()});
        engine->set_sampling(live.back().sequence, sampling_of(next));
        engine->keep_hidden(live.back().sequence, 0, 1);
        ++next;
      }
      // The first sequence with an unread part of its prompt reads this part.
      for (Live& one : live) {
        const Alone& what = alone[one.which];
        if (one.parts == what.parts.size()) continue;
        const std::size_t end = what.parts[one.parts++];
        ASSERT_TRUE(run(engine->append(one.sequence,
                                       {what.prompt.begin() + static_cast<std::ptrdiff_t>(one.read),
                                        what.prompt.begin() + static_cast<std::ptrdiff_t>(end)}))
                        .has_value());
        one.read = end;
        break;
      }
      // Most of the sequences that have read their prompts draw a token.
      std::vector<Live*> draws;
      std::vector<SequenceId> sequences;
      std::vector<std::uint32_t> lengths;
      std::uint32_t more = random(5);
      for (Live& one : live) {
        if (one.parts < alone[one.which].parts.size() || random(5) == 0) continue;
        draws.push_back(&one);
        sequences.push_back(one.sequence);
        lengths.push_back(engine->length(one.sequence));
        more = std::min(more, count - one.drawn - 1);
      }
      if (!draws.empty()) {
        const auto drawn = run(engine->draw(sequences, more)).value();
        for (std::size_t i = 0; i < draws.size(); ++i) {
          expect_same(
              alone[draws[i]->which], draws[i]->drawn++, drawn[i],
              engine->take_hidden(sequences[i], lengths[i]).value(),
              "seed " + std::to_string(seed) + ", answer " + std::to_string(draws[i]->which));
        }
      }
      std::erase_if(live, [&](const Live& one) {
        if (one.drawn < one.leaves) return false;
        engine->close(one.sequence);
        return true;
      });
    }
  }
}

// Prompts are read with many rows in f16 between the kernels, and with a last part of few rows in
// f32.
TEST_P(GpuArithmetic, ReadsPromptsInF16CloseToF32) {
  std::vector<std::vector<float>> said;
  for (const Activations activations : {Activations::f32, Activations::f16}) {
    const auto engine = engine_of(*model_, {.context = 320, .activations = activations});
    const SequenceId sequence = engine->open().value();
    const std::vector<Token> tokens = prompt(170);
    for (const auto& [begin, end] : {std::pair(0, 100), {100, 160}, {160, 170}})
      ASSERT_TRUE(run(engine->append(sequence, {tokens.begin() + begin, tokens.begin() + end}))
                      .has_value());
    said.push_back(run(engine->logits(sequence)).value());
  }
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < said[0].size(); ++i) {
    difference += std::pow(double{said[0][i]} - said[1][i], 2);
    size += std::pow(double{said[0][i]}, 2);
  }
  EXPECT_GT(difference, 0) << "f16 is not f32";
  EXPECT_LT(std::sqrt(difference / size), 2e-3);
}

TEST_P(GpuArithmetic, SaysTheSameBitsForARowAmongManyAsAlone) {
  says_the_same_among_many(Activations::int8);
}
TEST_P(GpuArithmetic, SaysTheSameBitsForARowAmongManyAsAloneInF16) {
  if (!is_quick({"llama", "gemma3"}))
    GTEST_SKIP() << "takes long on a software device; set WEFT_LONG.";
  says_the_same_among_many(Activations::f16);
}
TEST_P(GpuArithmetic, SaysTheSameBitsThroughJoinsAndLeaves) {
  says_the_same_through_joins(Activations::int8);
}
TEST_P(GpuArithmetic, SaysTheSameBitsThroughJoinsAndLeavesInF16) {
  if (!is_quick({"llama", "qwen3moe"}))
    GTEST_SKIP() << "takes long on a software device; set WEFT_LONG.";
  says_the_same_through_joins(Activations::f16);
}

TEST_P(GpuPromises, SharesThePagesThatTwoSequencesBeginWith) {
  const auto engine =
      engine_of(*model_, {.context = 256, .sequences = 3, .activations = Activations::int8});
  const std::vector<Token> tokens = prompt(150);
  const bool recurrent = model_->model.config.delta_net.has_value();
  const Alone expected = answer_alone(
      *engine, tokens,
      recurrent ? std::vector<std::size_t>{150} : std::vector<std::size_t>{128, 150}, 8, {});
  const SequenceId first = engine->open().value(), second = engine->open().value();
  ASSERT_TRUE(run(engine->append(first, {tokens.begin(), tokens.begin() + 128})).has_value());
  ASSERT_TRUE(run(engine->append(first, prompt(20, 90))).has_value());

  const std::uint32_t shared = engine->share(first, second, 140);

  ASSERT_EQ(shared, recurrent ? 0u : 128u);
  // The sequence that gave the shared pages is rewound, continues with other tokens, and is closed.
  (void)engine->rewind(first, 70);
  ASSERT_TRUE(run(engine->append(first, prompt(120, 120))).has_value());
  engine->close(first);
  ASSERT_TRUE(run(engine->append(second, {tokens.begin() + shared, tokens.end()})).has_value());
  for (std::size_t i = 0; i < 8; ++i)
    EXPECT_EQ(run(engine->draw({second}, 0)).value()[0].token, expected.drawn[i].token) << i;
}

// The budget is 8 of the 24 pages that three whole contexts would take.
TEST_P(GpuPromises, TakesNoMoreCacheThanItsBudget) {
  const Config& config = model_->model.config;
  std::uint64_t attentions = 0;
  for (const Layer& layer : model_->model.layers)
    attentions += std::holds_alternative<Attention>(layer.mixer) ? 1 : 0;
  const std::uint64_t page = 2 * attentions * config.attention.kv_rows() * 64 * 2;
  const auto engine = engine_of(*model_, {.context = 512, .sequences = 3, .cache_bytes = 8 * page});
  const SequenceId a = engine->open().value(), b = engine->open().value(),
                   c = engine->open().value();

  ASSERT_TRUE(engine->reserve(a, 300).has_value());
  ASSERT_TRUE(engine->reserve(b, 190).has_value());
  EXPECT_EQ(engine->reserve(c, 10).error().code, ErrorCode::resource_exhausted);
  EXPECT_EQ(run(engine->append(c, prompt(3))).error().code, ErrorCode::resource_exhausted);
  EXPECT_EQ(engine->length(c), 0u);

  ASSERT_TRUE(run(engine->append(a, prompt(100))).has_value());
  ASSERT_TRUE(engine->reserve(a, 0).has_value()) << "gives back what it has not filled";
  EXPECT_TRUE(run(engine->append(c, prompt(190))).has_value());
  EXPECT_EQ(run(engine->append(c, prompt(3))).error().code, ErrorCode::resource_exhausted);
  EXPECT_TRUE(run(engine->draw({a, b, c}, 0)).error().code == ErrorCode::invalid_argument)
      << "b is empty";
  EXPECT_TRUE(run(engine->draw({a, c}, 8)).has_value());
}

}  // namespace
}  // namespace weft::llm
