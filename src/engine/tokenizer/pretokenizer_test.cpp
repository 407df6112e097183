// Tests that words are cut as the regular expressions of the families cut them, and that the words
// together are the whole text.
#include "engine/tokenizer/pretokenizer.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "common/base/utf8.h"

namespace weft::tokenizer {
namespace {

using Words = std::vector<std::string>;

Words words_of(PreTokenizer rule, std::string_view text) {
  std::vector<std::string_view> views;
  split_words(rule, text, views);
  return {views.begin(), views.end()};
}

TEST(PreTokenizer, Gpt2) {
  constexpr auto rule = PreTokenizer::gpt2;
  EXPECT_EQ(words_of(rule, "Hello world's 12345 times"),
            (Words{"Hello", " world", "'s", " 12345", " times"}));
  EXPECT_EQ(words_of(rule, "we'LL don't"), (Words{"we", "'", "LL", " don", "'t"}));
  EXPECT_EQ(words_of(rule, "a   b\n\n c  "), (Words{"a", "  ", " b", "\n\n", " c", "  "}));
  EXPECT_EQ(words_of(rule, "x!! ?"), (Words{"x", "!!", " ?"}));
}

TEST(PreTokenizer, Llama3) {
  constexpr auto rule = PreTokenizer::llama3;
  EXPECT_EQ(words_of(rule, "Hello world's 12345 we'LL"),
            (Words{"Hello", " world", "'s", " ", "123", "45", " we", "'LL"}));
  EXPECT_EQ(words_of(rule, "a.b \t(c)\n\n  d\n x"),
            (Words{"a", ".b", " ", "\t", "(c", ")\n\n", " ", " d", "\n", " x"}));
  EXPECT_EQ(words_of(rule, " \n \n  !?\r\n"), (Words{" \n \n", " ", " !?\r\n"}));
}

TEST(PreTokenizer, Qwen2TakesDigitsOneByOne) {
  EXPECT_EQ(words_of(PreTokenizer::qwen2, "in 2024"), (Words{"in", " ", "2", "0", "2", "4"}));
}

TEST(PreTokenizer, Qwen35KeepsMarksWithTheirLetters) {
  const std::string text = "e\xCC\x81t\xC3\xA9";  // The first accent is a combining mark.
  EXPECT_EQ(words_of(PreTokenizer::qwen2, text), (Words{"e", "\xCC\x81t\xC3\xA9"}));
  EXPECT_EQ(words_of(PreTokenizer::qwen35, text), (Words{text}));
}

TEST(PreTokenizer, TekkenCutsWhereCapitalsBegin) {
  constexpr auto rule = PreTokenizer::tekken;
  EXPECT_EQ(words_of(rule, "HelloWorld HTTPServer isOK it's"),
            (Words{"Hello", "World", " HTTPServer", " is", "OK", " it", "'s"}));
  EXPECT_EQ(words_of(rule, "in 2024 a//b !?//\n x"),
            (Words{"in", " ", "2", "0", "2", "4", " a", "//", "b", " !?//\n", " x"}));
  EXPECT_EQ(words_of(rule,
                     "\xC3\xA9"
                     "AB \xC3\x89t\xC3\xA9"),
            (Words{"\xC3\xA9", "AB", " \xC3\x89t\xC3\xA9"}));
}

TEST(PreTokenizer, StandardTakesPunctuationAndTriplesOfDigitsApart) {
  EXPECT_EQ(words_of(PreTokenizer::standard, "a=b, 12345!"),
            (Words{"a", "=", "b", ",", " ", "123", "45", "!"}));
}

TEST(PreTokenizer, AnyBytesAreCutWithoutLoss) {
  std::mt19937_64 random(1);
  const std::u32string alphabet = U"ab1' \n\r\t!.é中½\u0301\u00A0\u3000\U0001F600";
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    for (std::size_t i = random() % 24; i > 0; --i) {
      if (random() % 8 == 0) {
        text.push_back(static_cast<char>(random()));
      } else {
        utf8::append(text, alphabet[random() % alphabet.size()]);
      }
    }
    for (const auto rule : {PreTokenizer::gpt2, PreTokenizer::llama3, PreTokenizer::qwen2,
                            PreTokenizer::qwen35, PreTokenizer::standard}) {
      std::string joined;
      for (const std::string& word : words_of(rule, text)) {
        ASSERT_FALSE(word.empty());
        joined += word;
      }
      ASSERT_EQ(joined, text);
    }
  }
}

TEST(PreTokenizer, NamesAreThoseOfTheFiles) {
  EXPECT_EQ(find_pretokenizer("llama-bpe"), PreTokenizer::llama3);
  EXPECT_EQ(find_pretokenizer("qwen35"), PreTokenizer::qwen35);
  EXPECT_EQ(find_pretokenizer("default"), PreTokenizer::standard);
  EXPECT_EQ(find_pretokenizer("nonsense"), std::nullopt);
}

}  // namespace
}  // namespace weft::tokenizer
