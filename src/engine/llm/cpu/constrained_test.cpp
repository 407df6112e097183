// Tests answers under a grammar or with shifted logits: their text, their number of passes, and
// their continuation on another engine, which gives the same tokens.
#include <algorithm>
#include <map>

#include "engine/grammar/constraint.h"
#include "engine/llm/cpu/cpu_engine.h"
#include "engine/llm/generator.h"
#include "engine/llm/run_now.h"
#include "engine/llm/test_expected.h"

namespace weft::llm {
namespace {

// Counts the tokens that are appended and drawn.
class CountingEngine final : public Engine {
 public:
  explicit CountingEngine(std::unique_ptr<Engine> inside) : inside_(std::move(inside)) {}

  std::vector<std::size_t> appends;  // The number of tokens of each append().
  std::size_t draws = 0;

  const Config& config() const override { return inside_->config(); }
  const EngineOptions& options() const override { return inside_->options(); }
  std::string device() const override { return inside_->device(); }
  EngineCounters counters() const override { return inside_->counters(); }
  Result<SequenceId> open() override { return inside_->open(); }
  void close(SequenceId id) override { inside_->close(id); }
  std::uint32_t length(SequenceId id) const override { return inside_->length(id); }
  std::uint32_t rewind(SequenceId id, std::uint32_t length) override {
    return inside_->rewind(id, length);
  }
  Async<Result<>> append(SequenceId id, std::vector<Token> tokens) override {
    appends.push_back(tokens.size());
    return inside_->append(id, std::move(tokens));
  }
  Async<Result<std::vector<float>>> logits(SequenceId id) override { return inside_->logits(id); }
  Async<Result<std::vector<float>>> last_hidden(SequenceId id) override {
    return inside_->last_hidden(id);
  }
  Async<Result<std::vector<Drawn>>> draw(std::vector<SequenceId> ids, std::uint32_t more) override {
    draws += ids.size();
    return inside_->draw(std::move(ids), more);
  }
  void set_sampling(SequenceId id, const Sampling& sampling) override {
    inside_->set_sampling(id, sampling);
  }
  Async<Result<std::vector<float>>> forward(SequenceId id, std::vector<float> hidden) override {
    return inside_->forward(id, std::move(hidden));
  }
  Async<Result<std::vector<float>>> forward_tokens(SequenceId id,
                                                   std::vector<Token> tokens) override {
    return inside_->forward_tokens(id, std::move(tokens));
  }

 private:
  const std::unique_ptr<Engine> inside_;
};

constexpr std::string_view capital =
    R"(root ::= "{\"country\": \"Japan\", \"capital\": \"" [A-Z] [a-z]{2,9} "\", \"certain\": " ("true" | "false") "}")";

struct HeldChat {
  explicit HeldChat(const EngineOptions& options = {},
                    const std::string& name = "tiny-llama-chat-q8_0")
      : model(test::open_model(*weft::test::find_data("models/" + name + ".gguf")).value()),
        tokenizer(tokenizer::Tokenizer::create(model->file.metadata).value()),
        engine(create_cpu_engine(model->model, *model->source, options, 1).value()),
        grammars(*tokenizer) {}

  std::vector<Token> question(std::string_view text) const {
    return tokenizer
        ->encode("<|start_header_id|>user<|end_header_id|>\n\n" + std::string(text) +
                     "<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n",
                 {.add_special = true, .parse_special = true})
        .value();
  }
  std::shared_ptr<grammar::Constraint> held(std::string_view gbnf) {
    return grammars.begin(gbnf, {}).value();
  }

  std::unique_ptr<test::OpenModel> model;
  std::unique_ptr<const tokenizer::Tokenizer> tokenizer;
  CountingEngine engine;
  grammar::Grammars grammars;
};

constexpr std::string_view japan = "What is the capital of Japan?";

TEST(Constrained, AnswersFollowTheGrammarAndFixedTextTakesNoPasses) {
  HeldChat chat;
  Generator generator(chat.engine, *chat.tokenizer);
  std::string heard;

  const auto answer =
      run_now(generator.generate({.prompt = chat.question(japan), .constraint = chat.held(capital)},
                                 [&](std::string_view text) {
                                   heard += text;
                                   return true;
                                 }));

  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_TRUE(answer->text.starts_with(R"({"country": "Japan", "capital": ")")) << answer->text;
  EXPECT_TRUE(answer->text.ends_with("e}")) << answer->text;
  EXPECT_EQ(heard, answer->text);
  EXPECT_EQ(answer->stop, StopReason::eos);
  // There is one pass for the prompt and one for each chosen token. Tokens that the constraint
  // fixes share these passes.
  EXPECT_LT(chat.engine.appends.size(), 1 + answer->tokens.size() / 2);
  EXPECT_EQ(chat.engine.draws, 0u);
}

TEST(Constrained, GoesOnInTheMiddleAsItWouldHave) {
  for (const std::string name : {"tiny-llama-chat-q8_0", "tiny-qwen35-chat-q8_0"}) {
    if (!weft::test::find_data("models/" + name + ".gguf")) continue;
    for (const bool exact : {false, true}) {
      HeldChat chat({}, name);
      const auto prompt = chat.question(japan);
      const Sampling warm{
          .temperature = 1.2f, .top_p = 0.9f, .repetition_penalty = 1.1f, .seed = 5};
      const auto whole = run_now(
          Generator(chat.engine, *chat.tokenizer)
              .generate({.prompt = prompt, .sampling = warm, .constraint = chat.held(capital)}));
      ASSERT_TRUE(whole) << whole.error().message;

      for (std::size_t cut = 0; cut <= whole->tokens.size(); ++cut) {
        Generator generator(chat.engine, *chat.tokenizer, {.exact_in_parts = exact});
        std::vector<Token> answered;
        for (std::size_t i = 0; i < cut; ++i) answered.push_back(whole->tokens[i].id);
        const auto rest = run_now(generator.generate({.prompt = prompt,
                                                      .answered = answered,
                                                      .sampling = warm,
                                                      .constraint = chat.held(capital)}));
        ASSERT_TRUE(rest) << rest.error().message;
        ASSERT_EQ(rest->tokens.size() + cut, whole->tokens.size()) << name << " cut at " << cut;
        for (std::size_t i = cut; i < whole->tokens.size(); ++i)
          ASSERT_EQ(rest->tokens[i - cut].id, whole->tokens[i].id) << name << " cut at " << cut;
        EXPECT_EQ(rest->text, whole->text);
        EXPECT_EQ(rest->stop, StopReason::eos);
      }
    }
  }
}

TEST(Constrained, HeldAndFreeAnswersStandSideBySide) {
  const std::vector<std::string> questions = {"What is 12 + 30?", "Who are you?",
                                              "What is WebGPU?"};
  HeldChat alone, together({.sequences = 4});
  std::vector<std::string> expected, answers(questions.size());
  Generator one(alone.engine, *alone.tokenizer), all(together.engine, *together.tokenizer);
  for (const auto& question : questions)
    expected.push_back(run_now(one.generate({.prompt = alone.question(question)}))->text);
  const std::string expected_held =
      run_now(one.generate({.prompt = alone.question(japan), .constraint = alone.held(capital)}))
          ->text;
  std::string held;

  for (std::size_t i = 0; i < questions.size(); ++i)
    ASSERT_TRUE(all.add({.prompt = together.question(questions[i])}, {},
                        [&answers, i](Result<Generation> done) { answers[i] = done->text; }));
  ASSERT_TRUE(all.add({.prompt = together.question(japan), .constraint = together.held(capital)},
                      {}, [&held](Result<Generation> done) { held = done->text; }));
  ASSERT_TRUE(run_now(all.run()));

  EXPECT_EQ(answers, expected);
  EXPECT_EQ(held, expected_held);
}

TEST(Constrained, CandidatesAreReportedForEveryTokenWhereTheyAreAskedFor) {
  HeldChat chat;
  Generator generator(chat.engine, *chat.tokenizer);

  const auto answer = run_now(generator.generate(
      {.prompt = chat.question(japan), .top = 3, .constraint = chat.held(capital)}));
  const auto quick = run_now(
      generator.generate({.prompt = chat.question(japan), .constraint = chat.held(capital)}));

  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->text.substr(0, 30), quick->text.substr(0, 30));
  for (const GeneratedToken& token : answer->tokens) {
    EXPECT_EQ(token.top.size(), 3u);
    EXPECT_LT(token.logprob, 0);  // The log-probability is of the raw logits, without the grammar.
  }
}

TEST(Constrained, FingerprintsAreOfTheSamePlacesAsWhenTheAnswerIsReadAgain) {
  HeldChat chat;
  const auto prompt = chat.question(japan);
  using Prints = std::map<std::uint32_t, std::vector<float>>;
  Prints drawn, read;
  const auto keep = [](Prints& prints) {
    return [&prints](std::uint32_t at, std::span<const float> hidden) {
      EXPECT_TRUE(prints.emplace(at, std::vector(hidden.begin(), hidden.end())).second) << at;
    };
  };

  const auto answer = run_now(Generator(chat.engine, *chat.tokenizer)
                                  .generate({.prompt = prompt,
                                             .constraint = chat.held(capital),
                                             .on_hidden = keep(drawn),
                                             .hidden_every = 8}));
  ASSERT_TRUE(answer) << answer.error().message;
  std::vector<Token> answered;
  for (const GeneratedToken& token : answer->tokens) answered.push_back(token.id);
  const auto audit =
      run_now(Generator(chat.engine, *chat.tokenizer)
                  .generate({.prompt = prompt,
                             .answered = answered,
                             .tokens_max = static_cast<std::uint32_t>(answered.size()),
                             .on_hidden = keep(read),
                             .hidden_every = 8}));

  ASSERT_TRUE(audit) << audit.error().message;
  EXPECT_GT(drawn.size(), answered.size() / 8);
  EXPECT_EQ(drawn, read);
}

TEST(Constrained, BoundsAndStopTextsHoldInFixedText) {
  HeldChat chat;
  Generator generator(chat.engine, *chat.tokenizer);
  const auto prompt = chat.question(japan);

  const auto cut = run_now(
      generator.generate({.prompt = prompt, .tokens_max = 4, .constraint = chat.held(capital)}));
  const auto stopped = run_now(generator.generate(
      {.prompt = prompt, .stop = {" \"capital"}, .constraint = chat.held(capital)}));

  EXPECT_EQ(cut->tokens.size(), 4u);
  EXPECT_EQ(cut->stop, StopReason::length);
  EXPECT_EQ(stopped->text, R"({"country": "Japan",)");
  EXPECT_EQ(stopped->stop, StopReason::stop);
}

TEST(Constrained, WhatTheVocabularyCannotWriteFailsAlone) {
  HeldChat chat({.sequences = 2});
  Generator generator(chat.engine, *chat.tokenizer);
  Result<Generation> broken, sound;
  // The biases exclude all tokens, so that none can continue the grammar.
  const auto constraint = chat.held("root ::= [A-Z]+ \"!\"");
  std::vector<TokenBias> bias;
  for (Token token = 0; token < 3072; ++token) bias.push_back({token, -INFINITY});

  ASSERT_TRUE(
      generator.add({.prompt = chat.question(japan), .bias = bias, .constraint = constraint}, {},
                    [&](Result<Generation> done) { broken = std::move(done); }));
  ASSERT_TRUE(generator.add({.prompt = chat.question(japan)}, {},
                            [&](Result<Generation> done) { sound = std::move(done); }));
  ASSERT_TRUE(run_now(generator.run()));

  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().message,
            "The token at byte 0 of the answer is not allowed by the grammar.");
  EXPECT_EQ(sound->text, "The capital of Japan is Tokyo.");
}

TEST(Constrained, BiasMovesTheChoiceAndIsCheckedFirst) {
  HeldChat chat;
  Generator generator(chat.engine, *chat.tokenizer);
  const auto prompt = chat.question(japan);
  const auto plain = run_now(generator.generate({.prompt = prompt}));
  const Token tokyo = plain->tokens[plain->tokens.size() - 3].id;

  const auto same = run_now(generator.generate({.prompt = prompt, .bias = {{0, 0.0f}}}));
  const auto banned =
      run_now(generator.generate({.prompt = prompt, .tokens_max = 20, .bias = {{tokyo, -100.0f}}}));
  const auto wrong = run_now(generator.generate({.prompt = prompt, .bias = {{3072, 1.0f}}}));

  EXPECT_EQ(same->text, plain->text);
  for (const GeneratedToken& token : banned->tokens) EXPECT_NE(token.id, tokyo);
  EXPECT_NE(banned->text, plain->text);
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().message,
            "A bias is given for the token 3072, which is not one of the model's 3072 tokens.");
}

TEST(Constrained, ControlTokensAreNamedInTheTextWhereThatIsAskedFor) {
  HeldChat chat;
  Generator generator(chat.engine, *chat.tokenizer);
  const Token header = *chat.tokenizer->vocabulary().find("<|start_header_id|>");
  const auto held = [&] {
    return std::shared_ptr(chat.grammars.begin(R"(root ::= "x" "y")", {.first = {header}}).value());
  };

  const auto shown = run_now(generator.generate(
      {.prompt = chat.question(japan), .constraint = held(), .shown = {header}}));
  const auto plain =
      run_now(generator.generate({.prompt = chat.question(japan), .constraint = held()}));

  EXPECT_EQ(shown->text, "<|start_header_id|>xy");
  EXPECT_EQ(plain->text, "xy");
}

}  // namespace
}  // namespace weft::llm
