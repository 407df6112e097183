// Tests cases that the test vectors do not cover: special tokens, rules at the ends of a text,
// broken metadata, bytes that are not text, and very long texts.
#include "engine/tokenizer/tokenizer.h"

#include <gtest/gtest.h>

#include "engine/gguf/file.h"
#include "engine/gguf/test_builder.h"
#include "engine/tokenizer/byte_alphabet.h"
#include "engine/tokenizer/stream_decoder.h"

namespace weft::tokenizer {
namespace {

using gguf::ValueType;
using gguf::test::Builder;
using Tokens = std::vector<Token>;

gguf::Metadata metadata_of(const Builder& builder) {
  const std::string bytes = builder.bytes();
  return gguf::read_file(gguf::MemorySource(as_bytes(bytes))).value().metadata;
}

// A vocabulary of all bytes (0 to 255) and the tokens `more`.
Builder byte_pairs(const std::vector<std::string>& more,
                   const std::vector<std::int32_t>& kinds_of_more,
                   const std::vector<std::string>& merges) {
  std::vector<std::string> tokens;
  std::vector<std::int32_t> kinds;
  for (unsigned byte = 0; byte < 256; ++byte) {
    tokens.emplace_back(alphabet_character(static_cast<std::uint8_t>(byte)));
    kinds.push_back(1);
  }
  tokens.insert(tokens.end(), more.begin(), more.end());
  kinds.insert(kinds.end(), kinds_of_more.begin(), kinds_of_more.end());
  return Builder()
      .text("tokenizer.ggml.model", "gpt2")
      .text("tokenizer.ggml.pre", "gpt-2")
      .texts("tokenizer.ggml.tokens", tokens)
      .array("tokenizer.ggml.token_type", ValueType::int32, kinds)
      .texts("tokenizer.ggml.merges", merges);
}

std::unique_ptr<const Tokenizer> make(const Builder& builder) {
  return Tokenizer::create(metadata_of(builder)).value();
}
std::string error_of(const Builder& builder) {
  const auto made = Tokenizer::create(metadata_of(builder));
  return made ? "(no error)" : made.error().message;
}

TEST(Tokenizer, MergesTheBestRankFirst) {
  const auto tokenizer = make(byte_pairs({"bc", "ab", "abc"}, {1, 1, 1}, {"b c", "a b", "a bc"}));

  EXPECT_EQ(tokenizer->encode("abc", {}).value(), (Tokens{258}));
  EXPECT_EQ(tokenizer->encode("ab", {}).value(), (Tokens{257}));
  EXPECT_EQ(tokenizer->encode("abbc", {}).value(), (Tokens{257, 256}));
}

TEST(Tokenizer, AMergeThatIsNoTokenFallsBackToBytes) {
  const auto tokenizer = make(byte_pairs({"abc"}, {1}, {"a b", "ab c"}));

  EXPECT_EQ(tokenizer->encode("abc", {}).value(), (Tokens{256}));
  EXPECT_EQ(tokenizer->encode("abd", {}).value(), (Tokens{'a', 'b', 'd'}));
}

TEST(Tokenizer, ControlTokensAreParsedOnRequestAndUserTokensAlways) {
  const auto tokenizer = make(byte_pairs({"<|a|>", "<u>", "<|a|><u>"}, {3, 4, 3}, {}));

  EXPECT_EQ(tokenizer->encode("<|a|>x", {.parse_special = true}).value(), (Tokens{256, 'x'}));
  EXPECT_EQ(tokenizer->encode("<|a|>", {}).value(), (Tokens{'<', '|', 'a', '|', '>'}));
  EXPECT_EQ(tokenizer->encode("x<u>", {}).value(), (Tokens{'x', 257}));
  EXPECT_EQ(tokenizer->encode("<|a|><u><|a|>", {.parse_special = true}).value(),
            (Tokens{258, 256}));  // The longest token is found first.
  EXPECT_EQ(tokenizer->encode("<|a|", {.parse_special = true}).value(),
            (Tokens{'<', '|', 'a', '|'}));
  EXPECT_EQ(tokenizer->decode(Tokens{256, 'x', 257}, {.show_special = false}).value(), "x<u>");
}

TEST(Tokenizer, AddsBeginAndEndWhereTheModelWantsThem) {
  Builder builder = byte_pairs({"<s>", "<e>"}, {3, 3}, {});
  builder.uint32("tokenizer.ggml.bos_token_id", 256).uint32("tokenizer.ggml.eos_token_id", 257);
  builder.scalar<std::uint8_t>("tokenizer.ggml.add_bos_token", ValueType::boolean, 1);
  builder.scalar<std::uint8_t>("tokenizer.ggml.add_eos_token", ValueType::boolean, 1);

  const auto tokenizer = make(builder);

  EXPECT_EQ(tokenizer->encode("a", {.add_special = true}).value(), (Tokens{256, 'a', 257}));
  EXPECT_EQ(tokenizer->encode("", {.add_special = true}).value(), (Tokens{256, 257}));
  EXPECT_EQ(tokenizer->encode("a", {}).value(), (Tokens{'a'}));
  EXPECT_TRUE(tokenizer->vocabulary().ends_generation(257));
  EXPECT_FALSE(tokenizer->vocabulary().ends_generation(256));
  EXPECT_FALSE(tokenizer->vocabulary().ends_generation(-1));
}

TEST(Tokenizer, TokensThatEndATurnAreKnownByName) {
  const auto tokenizer = make(byte_pairs({"<|im_end|>", "<|fim_prefix|>"}, {4, 4}, {}));

  EXPECT_TRUE(tokenizer->vocabulary().ends_generation(256));
  EXPECT_TRUE(tokenizer->vocabulary().is_control(256));
  EXPECT_FALSE(tokenizer->vocabulary().ends_generation(257));
  EXPECT_TRUE(tokenizer->vocabulary().is_control(257));
}

TEST(Tokenizer, EveryByteSurvives) {
  const auto tokenizer = make(byte_pairs({}, {}, {}));
  std::string text;
  for (int i = 0; i < 512; ++i) text.push_back(static_cast<char>(i * 7));

  const Tokens tokens = tokenizer->encode(text, {}).value();

  EXPECT_EQ(tokenizer->decode(tokens, {}).value(), text);
}

TEST(Tokenizer, ALongRunTakesNoQuadraticTime) {
  // The text is one word of a million equal letters, and each merge doubles a part. Quadratic work
  // would take hours.
  std::vector<std::string> tokens, merges;
  std::vector<std::int32_t> kinds;
  for (std::size_t length = 1; length < 64; length *= 2) {
    merges.push_back(std::string(length, 'a') + " " + std::string(length, 'a'));
    tokens.emplace_back(2 * length, 'a');
    kinds.push_back(1);
  }
  const auto tokenizer = make(byte_pairs(tokens, kinds, merges));

  const Tokens encoded = tokenizer->encode(std::string(1'000'000, 'a'), {}).value();

  EXPECT_EQ(encoded.size(), 15'625u);
  EXPECT_EQ(encoded.front(), 256 + 5);
}

Builder pieces() {
  return Builder()
      .text("tokenizer.ggml.model", "llama")
      .texts("tokenizer.ggml.tokens", {"<unk>", "<s>", "</s>", "<0x0A>", "<0xC3>", "<0xA9>", "▁",
                                       "a", "b", "▁a", "ab", "▁ab"})
      .array<float>("tokenizer.ggml.scores", ValueType::float32,
                    {0, 0, 0, 0, 0, 0, -5, -5, -5, -1, -2, -3})
      .array<std::int32_t>("tokenizer.ggml.token_type", ValueType::int32,
                           {2, 3, 3, 6, 6, 6, 1, 1, 1, 1, 1, 1});
}

TEST(Tokenizer, PiecesMergeByScoreAfterASpace) {
  const auto tokenizer = make(pieces());

  // Merges ▁ and a first, then ▁a and b.
  EXPECT_EQ(tokenizer->encode("ab", {}).value(), (Tokens{11}));
  EXPECT_EQ(tokenizer->encode("a b", {.add_special = true}).value(), (Tokens{1, 9, 6, 8}));
  EXPECT_EQ(tokenizer->encode("", {}).value(), (Tokens{}));
  EXPECT_EQ(tokenizer->encode("a</s>a", {.parse_special = true}).value(), (Tokens{9, 2, 9}));
  EXPECT_EQ(tokenizer->decode(Tokens{9, 6, 8}, {}).value(), "a b");
}

TEST(Tokenizer, WhatIsNoPieceBecomesBytesAndTheRestUnknown) {
  const auto tokenizer = make(pieces());

  EXPECT_EQ(tokenizer->encode("é\nx", {}).value(), (Tokens{6, 4, 5, 3, 0}));
  EXPECT_EQ(tokenizer->decode(Tokens{6, 4, 5, 3}, {}).value(), "é\n");
}

TEST(StreamDecoder, HoldsBackHalfACharacter) {
  const auto tokenizer = make(byte_pairs({}, {}, {}));
  StreamDecoder stream(*tokenizer, {});

  EXPECT_EQ(stream.push('a'), "a");
  EXPECT_EQ(stream.push(0xF0), "");
  EXPECT_EQ(stream.push(0x9F), "");
  EXPECT_EQ(stream.push(0x98), "");
  EXPECT_EQ(stream.push(0x80), "😀");
  EXPECT_EQ(stream.push(0xC3), "");
  EXPECT_EQ(stream.push('b'),
            "\xEF\xBF\xBD"
            "b");
  EXPECT_EQ(stream.push(0xE2), "");
  EXPECT_EQ(stream.finish(), "\xEF\xBF\xBD");
}

TEST(Tokenizer, SaysWhatIsWrongWithTheMetadata) {
  EXPECT_EQ(error_of(Builder()), "The file has no tokenizer.");
  EXPECT_EQ(error_of(Builder().text("tokenizer.ggml.model", "no_vocab")),
            "The file has no tokenizer.");
  EXPECT_EQ(error_of(Builder().text("tokenizer.ggml.model", "t5")),
            "The tokenizer model 't5' is not supported; 'gpt2', 'llama' and 'bert' are.");
  EXPECT_EQ(error_of(Builder().text("tokenizer.ggml.model", "gpt2")),
            "The metadata has no 'tokenizer.ggml.tokens'.");
  EXPECT_EQ(
      error_of(Builder().text("tokenizer.ggml.model", "gpt2").texts("tokenizer.ggml.tokens", {})),
      "The vocabulary has 0 tokens; 1 to 16777216 are read.");
  EXPECT_EQ(
      error_of(
          Builder().text("tokenizer.ggml.model", "gpt2").texts("tokenizer.ggml.tokens", {"a"})),
      "The metadata has no 'tokenizer.ggml.merges'.");
  EXPECT_EQ(
      error_of(
          Builder().text("tokenizer.ggml.model", "llama").texts("tokenizer.ggml.tokens", {"a"})),
      "The metadata has no 'tokenizer.ggml.scores'.");
  EXPECT_EQ(error_of(byte_pairs({"x"}, {}, {})), "There are 256 token types for 257 tokens.");
  EXPECT_EQ(error_of(byte_pairs({"x"}, {7}, {})),
            "The type of token 256 is not a number from 0 to 6.");
  EXPECT_EQ(error_of(byte_pairs({}, {}, {"ab"})),
            "Merge 0 ('ab') is not two texts with a space between.");
  EXPECT_EQ(error_of(byte_pairs({}, {}, {}).uint32("tokenizer.ggml.bos_token_id", 256)),
            "The metadata 'tokenizer.ggml.bos_token_id' is 256, which is not the id of a token: "
            "the vocabulary has 256 tokens.");
  EXPECT_EQ(
      error_of(Builder()
                   .text("tokenizer.ggml.model", "gpt2")
                   .text("tokenizer.ggml.pre", "viking")
                   .texts("tokenizer.ggml.tokens", {"a"})),
      "The pre-tokenizer 'viking' is not supported; llama-bpe, qwen2, qwen35, tekken, gpt-2 and "
      "default are.");
}

TEST(Tokenizer, RefusesNumbersThatAreNoTokens) {
  const auto tokenizer = make(byte_pairs({}, {}, {}));

  EXPECT_EQ(tokenizer->decode(Tokens{256}, {}).error().message,
            "Token 256 is not in the vocabulary of 256 tokens.");
  EXPECT_EQ(tokenizer->decode(Tokens{-1}, {}).error().message,
            "Token -1 is not in the vocabulary of 256 tokens.");
}

}  // namespace
}  // namespace weft::tokenizer
