// Tests over real vocabularies that the allowed tokens are exactly those whose bytes the grammar
// accepts, and that forced tokens are the only way to continue.
#include "engine/grammar/constraint.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <zlib.h>

#include "common/base/test_data.h"
#include "engine/gguf/file.h"
#include "engine/grammar/gbnf.h"

namespace weft::grammar {
namespace {

using Token = tokenizer::Token;

// Opens a vocabulary by its name in tests/data or $WEFT_DATA. gzread also reads files that are not
// compressed.
std::unique_ptr<const tokenizer::Tokenizer> open_tokenizer(std::string_view name) {
  const gzFile file = gzopen(weft::test::find_data(name)->c_str(), "rb");
  std::string bytes, part(1 << 20, '\0');
  for (int n = 0; (n = gzread(file, part.data(), static_cast<unsigned>(part.size()))) > 0;)
    bytes.append(part, 0, static_cast<std::size_t>(n));
  gzclose(file);
  auto read = gguf::read_file(gguf::MemorySource(as_bytes(bytes)));
  EXPECT_TRUE(read) << read.error().message;
  return tokenizer::Tokenizer::create(read->metadata).value();
}

constexpr std::string_view vocabularies[] = {
    "data/vocab/ggml-vocab-qwen2.gguf.gz", "models/tiny-llama-chat-q8_0.gguf",
    "models/tiny-qwen2-short-q4_k_m.gguf", "data/gguf/stories260K-f32.gguf"};

constexpr std::string_view grammars[] = {
    R"(root ::= "{\"name\": \"" [^"\\\x00-\x1f]{1,20} "\", \"age\": " [1-9] [0-9]{0,2} "}")",
    R"(root ::= ("yes" | "no" | "maybe " [a-f]+ | "é" .)* "\n")",
    R"(root ::= "[" root* "]" | [0-9]+)"};

class ConstraintOver : public testing::TestWithParam<std::string_view> {
 protected:
  void SetUp() override {
    if (!weft::test::find_data(GetParam())) GTEST_SKIP() << weft::test::missing_data(GetParam());
    tokenizer = open_tokenizer(GetParam());
  }

  std::vector<bool> allowed(Constraint& constraint) const {
    std::vector<float> logits(tokenizer->vocabulary().size(), 0.0f);
    EXPECT_TRUE(constraint.restrict(logits));
    std::vector<bool> out;
    for (const float logit : logits) out.push_back(!std::isinf(logit));
    return out;
  }
  std::string piece(Token token) const {
    std::string out;
    tokenizer->append_piece(token, {}, out);
    return out;
  }

  std::unique_ptr<const tokenizer::Tokenizer> tokenizer;
};
INSTANTIATE_TEST_SUITE_P(Vocabularies, ConstraintOver, testing::ValuesIn(vocabularies));

TEST_P(ConstraintOver, ExactlyTheTokensAreAllowedThatTheGrammarTakes) {
  const tokenizer::Vocabulary& vocabulary = tokenizer->vocabulary();
  Grammars made(*tokenizer);
  std::mt19937_64 random(11);
  for (const std::string_view text : grammars) {
    Matcher matcher(std::make_shared<const Grammar>(parse_gbnf(text).value()));
    auto constraint = made.begin(text, {}).value();
    Matcher::State state = matcher.start();
    for (int step = 0; step < 12; ++step) {
      const std::vector<bool> given = allowed(*constraint);
      std::vector<Token> choices;
      for (std::size_t i = 0; i < vocabulary.size(); ++i) {
        const auto token = static_cast<Token>(i);
        bool expected = false;
        if (vocabulary.ends_generation(token)) {
          expected = matcher.accepts(state);
        } else if (!vocabulary.is_control(token) &&
                   vocabulary.kind(token) != tokenizer::TokenKind::unused) {
          const std::string bytes = piece(token);
          expected = !bytes.empty() && matcher.next(state, bytes) < Matcher::full;
          if (expected) choices.push_back(token);
        }
        ASSERT_EQ(given[i], expected) << text << " step " << step << " token " << i;
      }
      if (choices.empty()) break;
      const Token chosen = choices[random() % choices.size()];
      ASSERT_TRUE(constraint->accept(chosen));
      state = matcher.next(state, piece(chosen));
      ASSERT_EQ(constraint->accepts(), matcher.accepts(state));
      ASSERT_EQ(constraint->is_complete(), matcher.is_complete(state));
    }
  }
}

TEST_P(ConstraintOver, ForcedTokensAreTheOnlyTextAndLeaveTheLastChoiceOpen) {
  Grammars made(*tokenizer);
  auto constraint = made.begin(grammars[0], {}).value();

  const std::vector<Token> forced = constraint->forced(100);

  std::string text;
  for (const Token token : forced) {
    text += piece(token);
    ASSERT_TRUE(constraint->accept(token));
  }
  EXPECT_TRUE(std::string_view(R"({"name": ")").starts_with(text));
  EXPECT_LT(text.size(), 10u);
  EXPECT_TRUE(constraint->forced(100).size() <= forced.size());
  // If a grammar has only one text, all tokens are forced, including the last one.
  auto whole = made.begin(R"(root ::= "exactly this text.")", {}).value();
  std::string all;
  for (const Token token : whole->forced(100)) {
    all += piece(token);
    ASSERT_TRUE(whole->accept(token));
  }
  EXPECT_EQ(all, "exactly this text.");
  EXPECT_TRUE(whole->is_complete());
}

TEST_P(ConstraintOver, TokensAgainstTheGrammarAreRefused) {
  Grammars made(*tokenizer);
  auto constraint = made.begin(R"(root ::= "a" "b")", {}).value();
  const auto tokens = tokenizer->encode("b", {}).value();

  const auto refused = constraint->accept(tokens.back());
  const auto ended = constraint->accept(*tokenizer->vocabulary().end());

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "The token at byte 0 of the answer is not allowed by the grammar.");
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().message, "The answer ends at byte 0, before the grammar allows it.");
}

TEST_P(ConstraintOver, TheGrammarBeginsBehindAText) {
  Grammars made(*tokenizer);
  auto constraint = made.begin(R"(root ::= "{}")", {.after = "</think>"}).value();
  const auto thought = tokenizer->encode("well, [so]</think>", {.parse_special = true}).value();

  for (const Token token : thought) {
    EXPECT_TRUE(constraint->forced(10).empty());
    EXPECT_FALSE(constraint->is_complete());
    ASSERT_TRUE(constraint->accept(token));
  }

  std::string text;
  for (const Token token : constraint->forced(10)) text += piece(token);
  EXPECT_EQ(text, "{}");
}

TEST(Constraint, FirstTokensAreForcedBeforeTheGrammar) {
  const auto tokenizer = open_tokenizer(vocabularies[1]);
  Grammars made(*tokenizer);
  auto constraint = made.begin(R"(root ::= "x")", {.first = {5, 6}}).value();

  EXPECT_EQ(constraint->forced(10), (std::vector<Token>{5, 6}));
  EXPECT_FALSE(constraint->accept(6));
  EXPECT_TRUE(constraint->accept(5));
  EXPECT_EQ(constraint->forced(10), (std::vector<Token>{6}));
  EXPECT_TRUE(constraint->accept(6));
  EXPECT_EQ(constraint->forced(10).size(), 1u);
}

TEST(Constraint, AnswersGoOnWhereTheSharedTablesAreFull) {
  const auto tokenizer = open_tokenizer(vocabularies[1]);
  Grammars made(*tokenizer);
  // Two answers use one grammar that has more states than a matcher keeps.
  constexpr std::string_view text = R"(root ::= (.{1,60000} "x"){0,10})";
  auto first = made.begin(text, {}).value();
  auto second = made.begin(text, {}).value();
  const Token a = tokenizer->encode("a", {}).value().back();

  for (int i = 0; i < 40'000; ++i) ASSERT_TRUE(first->accept(a)) << i;
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(second->accept(a));

  std::vector<float> logits(tokenizer->vocabulary().size(), 0.0f);
  EXPECT_TRUE(first->restrict(logits));
  EXPECT_TRUE(second->restrict(logits));
}

TEST(Constraint, MistakesOfTheGrammarAreTold) {
  const auto tokenizer = open_tokenizer(vocabularies[1]);
  Grammars made(*tokenizer);

  const auto refused = made.begin("root ::= nothing", {});

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "Line 1, column 10 of the grammar: the rule 'nothing' is not defined.");
}

}  // namespace
}  // namespace weft::grammar
