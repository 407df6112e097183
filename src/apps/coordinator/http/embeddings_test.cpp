// Tests of requests for embeddings: they are read as OpenAI's clients send them, errors are named,
// and vectors are written as numbers or bytes.
#include "apps/coordinator/http/embeddings.h"

#include <gtest/gtest.h>

namespace weft::coordinator {
namespace {

std::string message(std::string_view body) {
  const auto read = read_embedding_request(body);
  return read ? std::string() : read.error().message;
}

TEST(ReadEmbeddingRequest, TakesATextOrTextsOrTheirTokens) {
  const auto one = read_embedding_request(R"({"model":"m","input":"a","user":"u"})").value();
  EXPECT_EQ(one.model, "m");
  EXPECT_EQ(one.prompts, (std::vector<std::string>{"a"}));
  EXPECT_FALSE(one.embedding->base64);
  EXPECT_EQ(one.ask.tokens_max, 0u);

  const auto two =
      read_embedding_request(R"({"model":"m","input":["a","b"],"encoding_format":"base64",)"
                             R"("dimensions":8,"max_price":5,"deadline_ms":100})")
          .value();
  EXPECT_EQ(two.prompt_count(), 2u);
  EXPECT_TRUE(two.embedding->base64);
  EXPECT_EQ(two.embedding->dimensions, 8u);
  EXPECT_EQ(two.price_max, MicroCredits{5});
  EXPECT_EQ(two.patience, std::chrono::milliseconds(100));

  const auto tokens = read_embedding_request(R"({"model":"m","input":[1,2,3]})").value();
  EXPECT_EQ(tokens.embedding->tokens, (std::vector<std::vector<std::int32_t>>{{1, 2, 3}}));
  EXPECT_TRUE(tokens.prompts.empty());
  const auto lists = read_embedding_request(R"({"model":"m","input":[[1],[2,3]]})").value();
  EXPECT_EQ(lists.prompt_count(), 2u);
}

TEST(ReadEmbeddingRequest, NamesWhatIsWrong) {
  EXPECT_TRUE(message(R"({"input":"a"})").contains("lacks the key \"model\""));
  EXPECT_TRUE(message(R"({"model":"m"})").contains("lacks the key \"input\""));
  for (const char* const input : {R"("")", "[]", R"(["a",""])", "[[]]"})
    EXPECT_TRUE(message(std::string(R"({"model":"m","input":)") + input + "}")
                    .contains("must not be empty"))
        << input;
  EXPECT_TRUE(message(R"({"model":"m","input":["a",[1]]})").starts_with("input[1]"));
  EXPECT_FALSE(message(R"({"model":"m","input":[1,"a"]})").empty());
  EXPECT_FALSE(message(R"({"model":"m","input":[-1]})").empty());
  EXPECT_TRUE(message(R"({"model":"m","input":"a","encoding_format":"int8"})")
                  .contains("must be \"float\" or \"base64\""));
  EXPECT_TRUE(
      message(R"({"model":"m","input":"a","dimensions":0})").contains("must be from 1 to 16384"));
  std::string many = R"({"model":"m","input":["a")";
  for (std::size_t i = 1; i < EmbeddingRequest::texts_max; ++i) many += R"(,"a")";
  EXPECT_EQ(message(many + "]}"), "");
  EXPECT_TRUE(message(many + R"(,"a"]})").contains("has more than 2048 texts"));
}

std::string document(std::string_view body) {
  EmbeddingText text(read_embedding_request(body).value());
  for (std::size_t i = text.choices(); i-- > 0;) {
    inference::AnswerEnd end{.reason = "eos", .prompt_tokens = 2};
    end.vector = {0.5f, 0, static_cast<float>(i)};
    EXPECT_EQ(text.end(i, end), "");
  }
  return text.document();
}

TEST(EmbeddingText, WritesVectorsInTheOrderOfTheTexts) {
  EXPECT_TRUE(
      document(R"({"model":"m","input":["a","b"]})")
          .starts_with(
              R"({"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.5,0,0]},)"
              R"({"object":"embedding","index":1,"embedding":[0.5,0,1]}],"model":"m",)"
              R"("usage":{"prompt_tokens":4,"total_tokens":4},"weft":{)"));
  EXPECT_TRUE(document(R"({"model":"m","input":"a","encoding_format":"base64"})")
                  .contains(R"("embedding":"AAAAPwAAAAAAAAAA")"));
  EXPECT_TRUE(document(R"({"model":"m","input":"a","dimensions":1})").contains("[1]"));
}

}  // namespace
}  // namespace weft::coordinator
