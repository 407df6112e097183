// Tests that tokens equal llama.cpp's, on the texts that it publishes, on unusual texts, and on a
// book.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <zlib.h>

#include "common/base/test_data.h"
#include "common/base/utf8.h"
#include "common/crypto/sha256.h"
#include "common/json/json.h"
#include "engine/gguf/file.h"
#include "engine/tokenizer/stream_decoder.h"
#include "engine/tokenizer/tokenizer.h"

namespace weft::tokenizer {
namespace {

std::string read_unzipped(
    const std::filesystem::path& path) {  // gzread also reads files that are not compressed.
  const gzFile file = gzopen(path.c_str(), "rb");
  std::string bytes, part(1 << 20, '\0');
  for (int n = 0; (n = gzread(file, part.data(), static_cast<unsigned>(part.size()))) > 0;)
    bytes.append(part, 0, static_cast<std::size_t>(n));
  gzclose(file);
  return bytes;
}

std::vector<std::string> split_lines(const std::string& text, const std::string& separator) {
  std::vector<std::string> parts;
  std::size_t from = 0;
  for (std::size_t found = text.find(separator); found != std::string::npos;
       found = text.find(separator, from)) {
    parts.push_back(text.substr(from, found - from));
    from = found + separator.size();
  }
  parts.push_back(text.substr(from));
  return parts;
}

std::vector<Token> parse_tokens(const json::Value& value) {
  std::vector<Token> tokens;
  EXPECT_TRUE(value.for_each({.count_max = 1u << 20}, [&](const json::Value& one) -> Result<> {
    WEFT_ASSIGN(const Token token, one.integer_as<Token>());
    tokens.push_back(token);
    return {};
  }));
  return tokens;
}

struct Vectors {
  const char* name;
  const char* vocabulary;  // The path below $WEFT_DATA/data/vocab.
  const char* published;   // The .inp and .out files, or nullptr.
};
void PrintTo(const Vectors& row, std::ostream* out) { *out << row.name; }

class TokenizerVectors : public testing::TestWithParam<Vectors> {
 protected:
  void SetUp() override {
    const std::string name = std::string("data/vocab/") + GetParam().vocabulary;
    const auto path = test::find_data(name);
    if (!path) GTEST_SKIP() << test::missing_data(name);
    const std::string bytes = read_unzipped(*path);
    auto file = gguf::read_file(gguf::MemorySource(as_bytes(bytes)));
    ASSERT_TRUE(file) << file.error().message;
    auto made = Tokenizer::create(file->metadata);
    ASSERT_TRUE(made) << made.error().message;
    tokenizer_ = std::move(*made);
  }
  std::unique_ptr<const Tokenizer> tokenizer_;
};

TEST_P(TokenizerVectors, ThePublishedTextsHaveThePublishedIds) {
  if (GetParam().published == nullptr) GTEST_SKIP() << "none were published for this vocabulary";
  const std::string base = std::string("data/vocab/") + GetParam().published;
  const auto texts = split_lines(test::read_bytes(test::find_data(base + ".inp").value()),
                                 "\n__ggml_vocab_test__\n");
  const auto lines = split_lines(test::read_bytes(test::find_data(base + ".out").value()), "\n");
  ASSERT_EQ(texts.size(), 47u);  // The last text is empty.
  for (std::size_t i = 0; i + 1 < texts.size(); ++i) {
    std::istringstream line(lines[i]);
    std::vector<Token> expected;
    for (Token token = 0; line >> token;) expected.push_back(token);

    EXPECT_EQ(tokenizer_->encode(texts[i], {}).value(), expected) << texts[i];
  }
}

TEST_P(TokenizerVectors, AwkwardTextsGoThereAndBack) {
  const std::string name = std::string("data/vocab/more-") + GetParam().name + ".json";
  const std::string text = test::read_bytes(test::find_data(name).value());
  const auto root =
      json::parse(text).value().object({"vocab", "made_with", "fields", "cases", "book"}).value();
  const auto cases = root.get("cases").value().array().value();
  ASSERT_EQ(cases.size(), 28u);
  for (const json::Value& value : cases) {
    const auto row = value.object({"text", "ids", "ids_special", "bytes_hex"}).value();
    const std::string given = row.get("text").value().string().value();
    const auto ids = parse_tokens(row.get("ids").value());

    EXPECT_EQ(tokenizer_->encode(given, {}).value(), ids) << given;
    EXPECT_EQ(tokenizer_->encode(given, {.add_special = true, .parse_special = true}).value(),
              parse_tokens(row.get("ids_special").value()))
        << given;
    const std::string back = tokenizer_->decode(ids, {}).value();
    EXPECT_EQ(to_hex(as_bytes(back)), row.get("bytes_hex").value().string().value());
    // The stream decoder must return the text itself, in whole characters.
    StreamDecoder stream(*tokenizer_, {});
    std::string streamed;
    for (const Token token : ids) {
      const std::string part = stream.push(token);
      EXPECT_TRUE(utf8::is_valid(part));
      streamed += part;
    }
    streamed += stream.finish();
    if (tokenizer_->vocabulary().adds_space_prefix()) streamed.erase(0, 1);
    EXPECT_EQ(streamed, given);
    EXPECT_EQ(tokenizer_->decode(ids, {.clean_spaces = false}).value(), given);
  }
}

TEST_P(TokenizerVectors, ABookHasTheIdsOfTheBook) {
  const auto book = test::find_data("data/text/tinyshakespeare.txt");
  if (!book) GTEST_SKIP() << test::missing_data("data/text/tinyshakespeare.txt");
  const std::string name = std::string("data/vocab/more-") + GetParam().name + ".json";
  const std::string text = test::read_bytes(test::find_data(name).value());
  const auto root =
      json::parse(text).value().object({"vocab", "made_with", "fields", "cases", "book"}).value();
  const auto expected = root.get("book")
                            .value()
                            .object({"file", "count", "first", "last", "sha256_of_i32le"})
                            .value();

  const auto tokens = tokenizer_->encode(test::read_bytes(*book), {}).value();

  EXPECT_EQ(static_cast<std::int64_t>(tokens.size()),
            expected.get("count").value().integer().value());
  EXPECT_EQ(crypto::sha256(as_bytes(std::span<const Token>(tokens))).text(),
            expected.get("sha256_of_i32le").value().string().value());
}

INSTANTIATE_TEST_SUITE_P(
    Llama, TokenizerVectors,
    testing::Values(Vectors{"llama-bpe", "ggml-vocab-llama-bpe.gguf.gz",
                            "ggml-vocab-llama-bpe.gguf"},
                    Vectors{"llama-spm", "ggml-vocab-llama-spm.gguf", "ggml-vocab-llama-spm.gguf"},
                    Vectors{"qwen2", "ggml-vocab-qwen2.gguf.gz", "ggml-vocab-qwen2.gguf"},
                    Vectors{"qwen35pre", "ggml-vocab-qwen35pre.gguf.gz", nullptr}),
    [](const auto& row) {
      std::string name = row.param.name;
      std::ranges::replace(name, '-', '_');
      return name;
    });

// Tests the vocabularies of the small models with prompts and the token ids that llama.cpp gives
// for them.
class ModelPrompts : public testing::TestWithParam<const char*> {};
TEST_P(ModelPrompts, HaveTheIdsOfTheModel) {
  const std::string model = std::string("models/") + GetParam() + ".gguf",
                    name = std::string("models/expected/") + GetParam() + ".json";
  const std::string bytes = test::read_bytes(test::find_data(model).value());
  const auto file = gguf::read_file(gguf::MemorySource(as_bytes(bytes))).value();
  const auto tokenizer = Tokenizer::create(file.metadata).value();
  const std::string text = test::read_bytes(test::find_data(name).value());
  int count = 0;
  const auto members = json::parse(text, {.bytes_max = 1u << 22}).value().members().value();
  for (const auto& [key, list] : members) {
    if (key != "cases") continue;
    for (const json::Value& one : list.array().value()) {
      std::string prompt;
      std::vector<Token> expected;
      for (const auto& [field, value] : one.members().value()) {
        if (field == "prompt") prompt = value.string({.bytes_max = 1u << 20}).value();
        if (field == "prompt_tokens") expected = parse_tokens(value);
      }
      ASSERT_FALSE(expected.empty());
      EXPECT_EQ(tokenizer->encode(prompt, {.add_special = true, .parse_special = true}).value(),
                expected)
          << prompt;
      ++count;
    }
  }
  EXPECT_GE(count, 18);
}
INSTANTIATE_TEST_SUITE_P(Tiny, ModelPrompts,
                         testing::Values("tiny-llama-chat-q8_0", "tiny-qwen2-short-q4_k_m",
                                         "tiny-qwen35-short-q4_k_m"),
                         [](const auto& row) {
                           std::string made = row.param;
                           std::ranges::replace(made, '-', '_');
                           return made;
                         });

}  // namespace
}  // namespace weft::tokenizer
