// Encoders make the vectors of texts that llama.cpp makes (tests/data/tiny/make_random.py),
// whatever other texts are in a batch, and report the errors of a file or a text.
#include "engine/llm/encoders/encoder.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/gguf/test_builder.h"
#include "engine/llm/encoders/test_vectors.h"
#include "engine/llm/run_now.h"

namespace weft::llm {
namespace {

using test::open_encoder;
using test::read_vectors;

class Encoders : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Models, Encoders,
                         testing::Values("tiny-bert-random-f16", "tiny-nomic-bert-random-f16",
                                         "tiny-bert-random-q4_k_m", "tiny-nomic-bert-random-q8_0"),
                         [](const auto& row) {
                           std::string name = row.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST_P(Encoders, MakeTheVectorsOfLlamaCpp) {
  const std::string name = GetParam();
  const auto opened = open_encoder(name);
  const auto expected = read_vectors(*weft::test::find_data("models/expected/" + name + ".json"));
  ASSERT_GT(expected.size(), 15u);
  std::vector<std::vector<Token>> texts;
  for (const auto& one : expected) texts.push_back(one.tokens);

  const auto together = run_now(opened->encoder->embed(texts));

  ASSERT_TRUE(together) << together.error().message;
  double worst = 1;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double cosine = test::dot((*together)[i], expected[i].vector);
    worst = std::min(worst, cosine);
    EXPECT_GE(cosine, 0.9999) << expected[i].text;
    EXPECT_NEAR(test::dot((*together)[i], (*together)[i]), 1, 1e-5);
    EXPECT_EQ(run_now(opened->encoder->embed({texts[i]})).value().front(), (*together)[i])
        << "what stands beside it changes nothing";
  }
  std::printf("  %s: %zu texts, cosine at least %.7f\n", name.c_str(), expected.size(), worst);
}

TEST(Encoder, RefusesTextsThatItCannotRead) {
  const auto opened = open_encoder("tiny-bert-random-f16");
  const auto message = [&](std::vector<Token> tokens) {
    const auto refused = run_now(opened->encoder->embed({tokens}));
    return refused ? std::string() : refused.error().message;
  };
  EXPECT_EQ(message({}), "A text without tokens has no vector.");
  EXPECT_EQ(message(std::vector<Token>(513, 5)),
            "The text has 513 tokens; the model reads at most 512.");
  EXPECT_EQ(message(std::vector<Token>(512, 5)), "");
  EXPECT_EQ(message({-1}), "The token -1 is not one of the model's " +
                               std::to_string(opened->model.config.vocabulary) + " tokens.");
}

Async<> a_turn() { co_return; }

TEST(Encoder, LeavesTheThreadItsTurnsBetweenLayers) {
  const auto opened = open_encoder("tiny-bert-random-f16");
  std::size_t turns = 0;
  const auto encoder = Encoder::create(opened->model, *opened->source,
                                       {.threads = 1,
                                        .between =
                                            [&turns] {
                                              ++turns;
                                              return a_turn();
                                            }})
                           .value();

  const auto vectors = run_now(encoder->embed({{5, 6, 7}}));

  EXPECT_EQ(turns, opened->model.config.layers);
  EXPECT_EQ(vectors.value(), run_now(opened->encoder->embed({{5, 6, 7}})).value());
}

TEST(Encoder, ShortensVectorsToLength1) {
  const std::vector<float> vector{0.6f, 0.0f, 0.8f};
  EXPECT_EQ(shortened(vector, 2), (std::vector<float>{1, 0}));
  EXPECT_NEAR(shortened(vector, 3)[2], 0.8f, 1e-6);
}

TEST(ReadEncoder, SaysWhatIsWrongWithAFile) {
  const auto message = [](std::string_view architecture,
                          const std::function<void(gguf::test::Builder&)>& change) {
    gguf::test::Builder builder;
    builder.text("general.architecture", std::string(architecture));
    const std::string own(architecture);
    for (const auto& [key, value] :
         std::map<std::string, std::uint32_t>{{"block_count", 1},
                                              {"embedding_length", 32},
                                              {"feed_forward_length", 64},
                                              {"attention.head_count", 4},
                                              {"context_length", 16}})
      builder.uint32(std::string(own).append(".").append(key), value);
    change(builder);
    const std::string bytes = builder.bytes(1 << 16);
    const gguf::MemorySource source(as_bytes(bytes));
    const auto file = gguf::read_file(source).value();
    const auto read = read_encoder(file);
    return read ? std::string() : read.error().message;
  };
  const auto epsilon = [](gguf::test::Builder& builder) {
    builder.scalar("bert.attention.layer_norm_epsilon", gguf::ValueType::float32, 1e-12f);
  };
  EXPECT_EQ(message("llama", [](auto&) {}),
            "The architecture 'llama' embeds no texts; bert and nomic-bert do.");
  EXPECT_EQ(message("bert", [](auto&) {}),
            "The metadata has no 'bert.attention.layer_norm_epsilon'.");
  EXPECT_EQ(
      message("bert",
              [&](auto& builder) {
                epsilon(builder);
                builder.uint32("bert.pooling_type", 4);
              }),
      "bert.pooling_type is 4; Weft knows 1 (the mean), 2 (the first position) and 3 (the last).");
  EXPECT_EQ(message("bert", epsilon),
            "The file has no tensor 'token_embd.weight' of 1 to 16777216 rows, which bert needs.");
}

}  // namespace
}  // namespace weft::llm
