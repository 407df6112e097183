// Tests that WordPiece cuts texts as llama.cpp does.
// tests/data/tiny/expected/tiny-bert-random-f16.json has llama.cpp's tokens for texts with accents,
// capitals, marks, control characters, Chinese and unknown words.
#include "engine/tokenizer/word_piece.h"

#include <gtest/gtest.h>

#include "common/base/test_data.h"
#include "common/json/json.h"
#include "engine/gguf/file.h"
#include "engine/gguf/mapped_file.h"
#include "engine/tokenizer/tokenizer.h"

namespace weft::tokenizer {
namespace {

TEST(WordPiece, CutsAndJoinsAsLlamaCpp) {
  const auto path = test::find_data("models/tiny-bert-random-f16.gguf");
  const auto expected = test::find_data("models/expected/tiny-bert-random-f16.json");
  ASSERT_TRUE(path && expected);
  const auto source = gguf::MappedFile::open(path->string()).value();
  const auto file = gguf::read_file(*source).value();
  const auto tokenizer = Tokenizer::create(file.metadata);
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  const std::string text = test::read_bytes(*expected);
  const auto root = json::parse(text, {.bytes_max = std::size_t{1} << 24}).value();
  const auto cases = root.object({"model", "oracle", "cases"}).value().get("cases").value();
  std::size_t count = 0;

  ASSERT_TRUE(cases.for_each({}, [&](const json::Value& one) -> Result<> {
    const auto object = one.object({"text", "tokens", "joined", "embedding"}).value();
    const std::string given = object.get("text")->string({.bytes_max = 1 << 16}).value();
    std::vector<Token> wanted;
    EXPECT_TRUE(object.get("tokens")->for_each({}, [&](const json::Value& token) -> Result<> {
      wanted.push_back(token.integer_as<Token>().value());
      return {};
    }));
    const auto tokens = (*tokenizer)->encode(given, {.add_special = true, .parse_special = true});
    EXPECT_EQ(tokens.value(), wanted) << given;
    EXPECT_EQ((*tokenizer)->decode(wanted, {}).value(),
              object.get("joined")->string({.bytes_max = 1 << 16}).value())
        << given;
    ++count;
    return {};
  }));
  EXPECT_GT(count, 15u);
}

}  // namespace
}  // namespace weft::tokenizer
