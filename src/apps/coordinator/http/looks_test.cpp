// Tests of requests about tokenizers and templates, and of their replies.
#include "apps/coordinator/http/looks.h"

#include <gtest/gtest.h>

namespace weft::coordinator {
namespace {

TEST(Looks, ReadWhatIsToBeTokenised) {
  const auto plain = read_tokenize_request(R"({"model":"m","content":"a b"})");
  ASSERT_TRUE(plain) << plain.error().message;
  EXPECT_EQ(plain->look.kind, TextLook::Kind::tokens);
  EXPECT_EQ(plain->prompts, std::vector<std::string>{"a b"});
  EXPECT_FALSE(plain->look.add_special);
  EXPECT_TRUE(plain->look.parse_special);
  const auto other = read_tokenize_request(
      R"({"model":"m","content":"","add_special":true,"parse_special":false})");
  ASSERT_TRUE(other) << other.error().message;
  EXPECT_TRUE(other->look.add_special);
  EXPECT_FALSE(other->look.parse_special);
}

TEST(Looks, ReadTokensAndMessages) {
  const auto tokens = read_detokenize_request(R"({"model":"m","tokens":[1,0,262143]})");
  ASSERT_TRUE(tokens) << tokens.error().message;
  EXPECT_EQ(tokens->look.tokens, (std::vector<std::int32_t>{1, 0, 262143}));
  const auto prompt = read_template_request(
      R"({"model":"m","messages":[{"role":"user","content":"x"}],"add_generation_prompt":false,"response_format":{"type":"json_object"}})");
  ASSERT_TRUE(prompt) << prompt.error().message;
  EXPECT_EQ(prompt->look.kind, TextLook::Kind::prompt);
  EXPECT_EQ(prompt->ask.format, "");
  EXPECT_EQ(prompt->prompts.at(0),
            R"({"add_generation_prompt":false,"messages":[{"role":"user","content":"x"}]})");
  EXPECT_EQ(read_template_request(R"({"model":"m","messages":[{"role":"user","content":"x"}]})")
                ->prompts.at(0),
            R"({"add_generation_prompt":true,"messages":[{"role":"user","content":"x"}]})");
}

TEST(Looks, RefuseWithTheirPlace) {
  const auto message = [](const auto& read) { return read ? "" : read.error().message; };
  const auto has = [](const std::string& text, std::string_view what) {
    EXPECT_TRUE(text.contains(what)) << text;
  };
  has(message(read_tokenize_request(R"({"content":"a"})")), "lacks the key \"model\"");
  has(message(read_tokenize_request(R"({"model":"m"})")), "lacks the key \"content\"");
  has(message(read_tokenize_request(R"({"model":"m","content":1})")), "content: ");
  has(message(read_tokenize_request(R"({"model":"m","content":"a","with_pieces":true})")),
      "with_pieces: is not supported here");
  const std::string long_text(look_bytes_max + 1, 'a');
  has(message(read_tokenize_request(R"({"model":"m","content":")" + long_text + "\"}")),
      "content: ");
  has(message(read_detokenize_request(R"({"model":"m","tokens":[1,-2]})")), "tokens[1]: ");
  has(message(read_detokenize_request(R"({"model":"m","tokens":"1"})")), "tokens: ");
  has(message(read_template_request(R"({"model":"m","messages":[]})")),
      "messages: must not be empty");
}

TEST(Looks, TellWhatWasFound) {
  const auto told = [](TextLook::Kind kind, Told found) {
    LookText text(kind);
    text.tell(std::move(found));
    EXPECT_EQ(text.begin() + text.end(0, {.reason = "told"}), "");
    return text.document();
  };
  EXPECT_EQ(told(TextLook::Kind::tokens, {.tokens = {1, 22}}), R"({"tokens":[1,22]})");
  EXPECT_EQ(told(TextLook::Kind::tokens, {}), R"({"tokens":[]})");
  EXPECT_EQ(told(TextLook::Kind::text, {.text = "a\"\n"}), R"({"content":"a\"\n"})");
  EXPECT_EQ(told(TextLook::Kind::prompt, {.text = "<s>"}), R"({"prompt":"<s>"})");
}

}  // namespace
}  // namespace weft::coordinator
