// Tests the sampler: the best token, the penalties, the tokens that top-k, top-p and min-p keep,
// and the choice by the seed.
#include "engine/llm/sampler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

namespace weft::llm {
namespace {

// Logits of the probabilities 0.25, 0.5, 0.1 and 0.15.
const std::vector<float> logits = {std::log(0.25f), std::log(0.5f), std::log(0.1f),
                                   std::log(0.15f)};

std::map<Token, int> draw_many(const Sampling& sampling, int count,
                               std::span<const Token> before = {}) {
  Sampler sampler;
  std::map<Token, int> counts;
  for (int position = 0; position < count; ++position)
    ++counts[sampler.draw(sampling, logits, before, static_cast<std::uint32_t>(position)).token];
  return counts;
}

TEST(Sampler, TakesTheBestTokenAtTemperatureZero) {
  Sampler sampler;

  const Drawn drawn = sampler.draw({}, logits, {}, 7);

  EXPECT_EQ(drawn.token, 1);
  EXPECT_NEAR(drawn.logprob, std::log(0.5f), 1e-6f);
}

TEST(Sampler, TakesTheFirstOfEquals) {
  EXPECT_EQ(Sampler().draw({}, std::vector<float>{1, 3, 3, 2}, {}, 0).token, 1);
}

TEST(Sampler, SurvivesLogitsThatAreNotNumbers) {
  EXPECT_EQ(Sampler().draw({}, std::vector<float>{NAN, -INFINITY, 2}, {}, 0).token, 2);
  EXPECT_EQ(Sampler().draw({.temperature = 1}, std::vector<float>{NAN, NAN}, {}, 0).token, 0);
}

TEST(Sampler, DrawsByProbability) {
  // The share of a token with p = 0.5 in 20,000 draws has a standard deviation of 0.0035; the bound
  // is five standard deviations.
  const auto counts = draw_many({.temperature = 1, .seed = 3}, 20'000);

  EXPECT_NEAR(counts.at(1) / 20'000.0, 0.5, 0.018);
  EXPECT_NEAR(counts.at(0) / 20'000.0, 0.25, 0.016);
  EXPECT_NEAR(counts.at(3) / 20'000.0, 0.15, 0.013);
  EXPECT_NEAR(counts.at(2) / 20'000.0, 0.1, 0.011);
}

TEST(Sampler, SharpensWithTheTemperature) {
  // Temperature 1/2 squares the probabilities: 0.25, 0.0625, 0.0225 and 0.01, with the sum 0.345.
  const auto counts = draw_many({.temperature = 0.5f, .seed = 4}, 20'000);

  EXPECT_NEAR(counts.at(1) / 20'000.0, 0.25 / 0.345, 0.016);
}

TEST(Sampler, IsDecidedByItsSeed) {
  EXPECT_EQ(draw_many({.temperature = 1, .seed = 5}, 100),
            draw_many({.temperature = 1, .seed = 5}, 100));
  EXPECT_NE(draw_many({.temperature = 1, .seed = 5}, 100),
            draw_many({.temperature = 1, .seed = 6}, 100));
}

// A draw from all tokens takes another code path than a draw from the best tokens: without a list
// of candidates and with few logarithms.
TEST(Sampler, DrawsTheSameOfAllTokensAsOfTheBestThatAreAllOfThem) {
  for (const float spread : {0.1f, 3.0f, 40.0f, 4000.0f}) {
    std::vector<float> many(5000);
    for (std::size_t i = 0; i < many.size(); ++i)
      many[i] = spread * std::sin(static_cast<float>(i * i % 6151));
    many[17] = many[4999] = -INFINITY;
    many[18] = NAN;
    const auto all = static_cast<std::uint32_t>(many.size());
    for (const float temperature : {0.05f, 1.0f, 2.0f}) {
      for (std::uint32_t position = 0; position < 40; ++position) {
        Sampler one, other;
        EXPECT_EQ(
            one.choose({.temperature = temperature, .seed = 9}, many, {}, position),
            other.choose({.temperature = temperature, .top_k = all, .seed = 9}, many, {}, position))
            << spread << " at " << temperature << ", position " << position;
      }
    }
  }
}

TEST(Sampler, LeavesOutWhatItIsToldTo) {
  const auto drawn_with = [](const Sampling& sampling) {
    std::vector<Token> tokens;
    for (const auto& [token, count] : draw_many(sampling, 2000)) tokens.push_back(token);
    return tokens;
  };
  EXPECT_EQ(drawn_with({.temperature = 1, .top_k = 2}), (std::vector<Token>{0, 1}));
  EXPECT_EQ(drawn_with({.temperature = 1, .top_p = 0.6f}), (std::vector<Token>{0, 1}));
  EXPECT_EQ(drawn_with({.temperature = 1, .top_p = 0.0f}), (std::vector<Token>{1}));
  EXPECT_EQ(drawn_with({.temperature = 1, .min_p = 0.25f}), (std::vector<Token>{0, 1, 3}));
}

TEST(Sampler, PenalizesTokensOfTheWindow) {
  const std::vector<Token> before = {1, 1, 0};

  // The repetition penalty of 3 takes log 0.5 = -0.69 to -2.08, which is below log 0.15 = -1.9.
  EXPECT_EQ(Sampler().draw({.repetition_penalty = 3}, logits, before, 0).token, 3);
  // The token that occurred twice loses 2 * 0.5 from -0.69, and the token that occurred once loses
  // 0.5 from -1.39: the first is still better, with -1.69 against -1.89.
  EXPECT_EQ(Sampler().draw({.frequency_penalty = 0.5f}, logits, before, 0).token, 1);
  EXPECT_EQ(Sampler().draw({.frequency_penalty = 0.7f}, logits, before, 0).token, 3);
  EXPECT_EQ(Sampler().draw({.presence_penalty = 2}, logits, before, 0).token, 3);
  // A window of 1 counts only the last token.
  EXPECT_EQ(Sampler().draw({.presence_penalty = 2, .penalty_window = 1}, logits, before, 0).token,
            1);
}

TEST(Sampler, ReportsTheRawProbabilityWhateverTheSampling) {
  const Drawn drawn = Sampler().draw({.temperature = 0.01f, .top_k = 1, .repetition_penalty = 1.1f},
                                     logits, std::vector<Token>{2}, 0);

  EXPECT_EQ(drawn.token, 1);
  EXPECT_NEAR(drawn.logprob, std::log(0.5f), 1e-6f);
}

TEST(BestTokens, AreSortedAndNormalised) {
  const auto best = best_tokens(logits, 2);

  ASSERT_EQ(best.size(), 2u);
  EXPECT_EQ(best[0].token, 1);
  EXPECT_EQ(best[1].token, 0);
  EXPECT_NEAR(best[1].logprob, std::log(0.25f), 1e-6f);
}

TEST(CheckSampling, NamesTheOption) {
  EXPECT_EQ(check_sampling({.temperature = -1}).error().message,
            "The temperature is -1; it lies between 0 and 100.");
  EXPECT_EQ(check_sampling({.top_p = 1.5f}).error().message,
            "top-p is 1.5; it lies between 0 and 1.");
  EXPECT_EQ(check_sampling({.temperature = NAN}).error().code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace weft::llm
