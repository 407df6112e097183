// Tests whole answers of the small models: their text, ends and bounds, several answers at once,
// and turns that continue the previous turn.
#include "engine/llm/generator.h"

#include "engine/llm/cpu/cpu_engine.h"
#include "engine/llm/run_now.h"
#include "engine/llm/test_expected.h"

namespace weft::llm {
namespace {

struct Chat {
  std::unique_ptr<test::OpenModel> model;
  std::unique_ptr<const tokenizer::Tokenizer> tokenizer;
  std::unique_ptr<Engine> engine;

  std::vector<Token> tokens(std::string_view text) const {
    return tokenizer->encode(text, {.add_special = true, .parse_special = true}).value();
  }
  std::vector<Token> question(std::string_view text) const {
    return tokens("<|start_header_id|>user<|end_header_id|>\n\n" + std::string(text) +
                  "<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n");
  }
};

Chat open_chat(const EngineOptions& options = {},
               const std::string& name = "tiny-llama-chat-q8_0") {
  Chat chat;
  chat.model = test::open_model(*weft::test::find_data("models/" + name + ".gguf")).value();
  chat.tokenizer = tokenizer::Tokenizer::create(chat.model->file.metadata).value();
  chat.engine = create_cpu_engine(chat.model->model, *chat.model->source, options, 1).value();
  return chat;
}

TEST(Generator, AnswersAndSaysWhyItEnded) {
  const Chat chat = open_chat();
  Generator generator(*chat.engine, *chat.tokenizer);
  std::string heard;

  const auto answer = run_now(
      generator.generate({.prompt = chat.question("What is the capital of Japan?"), .top = 2},
                         [&](std::string_view text) {
                           heard += text;
                           return true;
                         }));

  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  EXPECT_EQ(answer->text, "The capital of Japan is Tokyo.");
  EXPECT_EQ(heard, answer->text);
  EXPECT_EQ(answer->stop, StopReason::eos);
  EXPECT_EQ(answer->tokens.size(), 11u);
  EXPECT_EQ(answer->tokens.back().id, 4);
  EXPECT_EQ(answer->tokens.back().text, "");
  EXPECT_EQ(answer->tokens.front().top.size(), 2u);
  EXPECT_EQ(answer->tokens.front().top.front().token, answer->tokens.front().id);
  EXPECT_EQ(answer->prefill_tokens, 20u);
}

TEST(Generator, StopsAtStopTextsAndBounds) {
  const Chat chat = open_chat({.context = 64});
  Generator generator(*chat.engine, *chat.tokenizer);
  const auto prompt = chat.question("What is the capital of Japan?");

  const auto stopped = run_now(generator.generate({.prompt = prompt, .stop = {" Tok"}}));
  const auto cut = run_now(generator.generate({.prompt = prompt, .tokens_max = 3}));
  const auto full = run_now(generator.generate(
      {.prompt = chat.tokens("KING RICHARD III:\nNow is the winter of"), .tokens_max = 1000}));

  EXPECT_EQ(stopped->text, "The capital of Japan is");
  EXPECT_EQ(stopped->stop, StopReason::stop);
  EXPECT_EQ(cut->tokens.size(), 3u);
  EXPECT_EQ(cut->stop, StopReason::length);
  EXPECT_EQ(full->stop, StopReason::length);
  EXPECT_EQ(full->tokens.size() + full->prefill_tokens + full->reused_tokens, 64u);
}

TEST(Generator, EndsWhenTheListenerHasHadEnough) {
  const Chat chat = open_chat();
  Generator generator(*chat.engine, *chat.tokenizer);

  const auto answer = run_now(generator.generate({.prompt = chat.question("What is WebGPU?")},
                                                 [](std::string_view) { return false; }));

  EXPECT_EQ(answer->stop, StopReason::cancelled);
  EXPECT_EQ(answer->tokens.size(), 1u);
}

TEST(Generator, TellsOfEveryTokenWithTheTextThatItMadeCertain) {
  const Chat chat = open_chat();
  Generator generator(*chat.engine, *chat.tokenizer);
  for (const std::vector<std::string>& stop :
       {std::vector<std::string>{}, {" Tokyo"}, {" Tokyo, no"}}) {
    std::vector<Token> tokens;
    std::string heard;

    const auto answer = run_now(
        generator.generate({.prompt = chat.question("What is the capital of Japan?"),
                            .stop = stop,
                            .on_token = [&](const GeneratedToken& token, std::string_view text) {
                              tokens.push_back(token.id);
                              heard += text;
                            }}));

    ASSERT_TRUE(answer.has_value()) << answer.error().message;
    EXPECT_EQ(heard, answer->text);
    ASSERT_EQ(tokens.size(), answer->tokens.size());
    for (std::size_t i = 0; i < tokens.size(); ++i) EXPECT_EQ(tokens[i], answer->tokens[i].id);
  }
}

TEST(Generator, EndsWhatIsNoLongerWantedWhileItWaitsReadsAndAnswers) {
  const Chat chat = open_chat();
  Generator generator(*chat.engine, *chat.tokenizer, {.append_max = 4});
  const auto prompt = chat.question("What is the capital of Japan?");
  std::vector<Generation> done;
  const auto keep = [&](Result<Generation> generation) { done.push_back(std::move(*generation)); };
  int parts = 0, draws = 0;

  ASSERT_TRUE(generator.add({.prompt = prompt, .wanted = [&] { return ++parts <= 3; }}, {}, keep)
                  .has_value());
  ASSERT_TRUE(
      generator.add({.prompt = prompt, .wanted = [] { return false; }}, {}, keep).has_value());
  ASSERT_TRUE(run_now(generator.run()).has_value());
  ASSERT_TRUE(generator
                  .add({.prompt = prompt,
                        .on_token = [&](const GeneratedToken&, std::string_view) { ++draws; },
                        .wanted = [&] { return draws < 2; }},
                       {}, keep)
                  .has_value());
  ASSERT_TRUE(run_now(generator.run()).has_value());

  ASSERT_EQ(done.size(), 3u);
  for (const Generation& generation : done) EXPECT_EQ(generation.stop, StopReason::cancelled);
  EXPECT_EQ(done[0].prefill_tokens, 0u);  // The request that was still waiting ends first.
  // wanted() of the first request returned true three times: while the request waited, and before
  // each of two parts of 4 tokens.
  EXPECT_EQ(done[1].prefill_tokens, 8u);
  EXPECT_EQ(done[2].tokens.size(), 2u);
  EXPECT_EQ(done[2].reused_tokens, 8u);  // The sequence has kept the 8 tokens that were read.
}

TEST(Generator, RefusesWhatCannotBeAnswered) {
  const Chat chat = open_chat({.context = 16});
  Generator generator(*chat.engine, *chat.tokenizer);

  EXPECT_EQ(run_now(generator.generate({.prompt = {}})).error().message,
            "The prompt is empty; a text begins with at least one token.");
  EXPECT_EQ(run_now(generator.generate({.prompt = std::vector<Token>(16, 7)})).error().message,
            "The prompt has 16 tokens; at most 15 fit into the context of 16, which the answer "
            "shares: shorten it.");
  EXPECT_EQ(run_now(generator.generate({.prompt = {7}, .sampling = {.top_p = 2}})).error().code,
            ErrorCode::invalid_argument);
  EXPECT_EQ(run_now(generator.generate({.prompt = {100'000}})).error().message,
            "The token 100000 is not one of the model's 3072 tokens.");
  EXPECT_TRUE(run_now(generator.generate({.prompt = {7}, .tokens_max = 1})).has_value());
}

TEST(Generator, AnswersManyAtOnceAsEachAlone) {
  const std::vector<std::string> questions = {"What is 12 + 30?", "Who are you?",
                                              "What comes after Friday?", "Explain fusion.",
                                              "What is WebGPU?"};
  const Chat alone = open_chat();
  const Chat together = open_chat({.sequences = 3});
  Generator one_by_one(*alone.engine, *alone.tokenizer), all(*together.engine, *together.tokenizer);
  const Sampling warm{.temperature = 0.8f, .top_k = 20, .seed = 9};
  std::vector<std::string> expected, answers(questions.size());
  for (const auto& question : questions)
    expected.push_back(
        run_now(one_by_one.generate({.prompt = alone.question(question), .sampling = warm}))->text);

  for (std::size_t i = 0; i < questions.size(); ++i) {
    ASSERT_TRUE(all.add({.prompt = together.question(questions[i]), .sampling = warm}, {},
                        [&answers, i](Result<Generation> done) { answers[i] = done->text; })
                    .has_value());
  }
  ASSERT_TRUE(run_now(all.run()).has_value());

  EXPECT_EQ(answers, expected);
}

// The next turn begins with all tokens of the previous turn. A model with a DeltaNet can continue,
// too, because no token is taken back.
TEST(Generator, ReadsOnlyWhatATurnAdds) {
  for (const auto& name : {"tiny-llama-chat-q8_0", "tiny-qwen35-short-q4_k_m"}) {
    const Chat chat = open_chat({}, name), fresh = open_chat({}, name);
    Generator generator(*chat.engine, *chat.tokenizer), other(*fresh.engine, *fresh.tokenizer);
    const auto first =
        run_now(generator.generate({.prompt = chat.tokens("ROMEO:\n"), .tokens_max = 8}));
    std::vector<Token> second = chat.tokens("ROMEO:\n");
    for (const auto& token : first->tokens) second.push_back(token.id);
    for (const Token token : chat.tokenizer->encode(" and JULIET", {}).value())
      second.push_back(token);

    const auto answer = run_now(generator.generate({.prompt = second, .tokens_max = 8}));
    const auto separate = run_now(other.generate({.prompt = second, .tokens_max = 8}));

    EXPECT_EQ(answer->reused_tokens, chat.tokens("ROMEO:\n").size() + 8) << name;
    EXPECT_EQ(answer->text, separate->text) << name;
    EXPECT_EQ(separate->reused_tokens, 0u);
  }
}

TEST(Generator, StartsAnewWhereADeltaNetCannotGoBack) {
  const Chat chat = open_chat({}, "tiny-qwen35-short-q4_k_m"),
             fresh = open_chat({}, "tiny-qwen35-short-q4_k_m");
  Generator generator(*chat.engine, *chat.tokenizer), other(*fresh.engine, *fresh.tokenizer);
  (void)run_now(generator.generate({.prompt = chat.tokens("ROMEO:\nBut, soft!"), .tokens_max = 8}));

  const auto answer =
      run_now(generator.generate({.prompt = chat.tokens("ROMEO:\nO Juliet"), .tokens_max = 8}));
  const auto separate =
      run_now(other.generate({.prompt = chat.tokens("ROMEO:\nO Juliet"), .tokens_max = 8}));

  EXPECT_EQ(answer->reused_tokens, 0u);
  EXPECT_EQ(answer->text, separate->text);
}

}  // namespace
}  // namespace weft::llm
