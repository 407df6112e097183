// Redraw: for all settings it admits the tokens that the sampler draws from logits within the
// distance, and refuses nearly all others.
#include "engine/llm/redraw.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>

#include "engine/llm/sampler.h"

namespace weft::llm {
namespace {

Sampling random_sampling(std::mt19937& random) {
  const auto one_of = [&](std::initializer_list<float> values) {
    return values.begin()[random() % values.size()];
  };
  Sampling out{.temperature = one_of({0, 0.2f, 0.7f, 1, 1.5f}),
               .top_k = static_cast<std::uint32_t>(one_of({0, 0, 1, 3, 10, 100})),
               .top_p = one_of({1, 1, 0.95f, 0.7f, 0.2f}),
               .min_p = one_of({0, 0, 0.05f, 0.3f}),
               .seed = random()};
  if (random() % 3 == 0) {
    out.repetition_penalty = one_of({0.8f, 1.1f, 1.5f});
    out.presence_penalty = one_of({0, 0.5f, -0.5f});
    out.frequency_penalty = one_of({0, 0.3f});
    out.penalty_window = 5;
  }
  return out;
}

struct Case {
  Sampling sampling;
  std::vector<float> logits;
  std::vector<Token> before;
};
Case random_case(std::mt19937& random) {
  Case out{.sampling = random_sampling(random), .logits = {}, .before = {}};
  std::normal_distribution<float> normal(0, 2.5f);
  for (int i = 0; i < 60; ++i) out.logits.push_back(normal(random));
  for (std::size_t i = random() % 6; i > 0; --i)
    out.before.push_back(static_cast<Token>(random() % 60));
  return out;
}
Token draw(const Case& of, const std::vector<float>& logits) {
  return Sampler().choose(of.sampling, logits, of.before,
                          static_cast<std::uint32_t>(of.before.size()));
}

TEST(Redraw, AdmitsWhateverIsDrawnFromLogitsWithinTheDistance) {
  std::mt19937 random(7);
  Redraw redraw;
  for (int i = 0; i < 20'000; ++i) {
    const Case one = random_case(random);
    const double slack = std::array{0.01, 0.1, 0.6}[random() % 3];
    std::uniform_real_distribution<float> error(-static_cast<float>(slack),
                                                static_cast<float>(slack));
    std::vector<float> theirs = one.logits;
    for (float& logit : theirs) logit += error(random);
    const Token token = draw(one, theirs);

    EXPECT_TRUE(redraw.admits(one.sampling, one.logits, slack, one.before, token)) << "case " << i;
  }
}

TEST(Redraw, AdmitsNearlyNothingElse) {
  std::mt19937 random(8);
  Redraw redraw;
  int admitted = 0, tried = 0;
  for (int i = 0; i < 2'000; ++i) {
    const Case one = random_case(random);
    const Token drawn = draw(one, one.logits);
    // The token that the settings would give if the drawn token were impossible.
    std::vector<float> others = one.logits;
    others[static_cast<std::size_t>(drawn)] = -INFINITY;
    const Token other = draw(one, others);
    ++tried;
    admitted += redraw.admits(one.sampling, one.logits, 0.02, one.before, other) ? 1 : 0;
  }
  // In fewer than 1/12 of the cases the two best scores are within 0.04 / temperature of each
  // other.
  EXPECT_LT(admitted, tried / 12) << admitted;
}

TEST(Redraw, RefusesASeedThatTheWorkerChose) {
  std::mt19937 random(9);
  Redraw redraw;
  int refused = 0;
  for (int i = 0; i < 200; ++i) {
    Case one = random_case(random);
    one.sampling.temperature = 1;
    one.sampling.top_k = 0;
    one.sampling.top_p = 1;
    one.sampling.min_p = 0;
    Case theirs = one;
    theirs.sampling.seed ^= 12345;
    refused +=
        redraw.admits(one.sampling, one.logits, 0.02, one.before, draw(theirs, one.logits)) ? 0 : 1;
  }
  EXPECT_GT(refused, 100);
}

TEST(Redraw, RefusesWhatIsForbiddenAndWhatRestrictionsLeaveOut) {
  const std::vector<float> logits = {2, 1, 0, -INFINITY, -1};
  Redraw redraw;
  EXPECT_TRUE(redraw.admits({}, logits, 0.1, {}, 0));
  EXPECT_FALSE(redraw.admits({}, logits, 0.1, {}, 1));
  EXPECT_TRUE(redraw.admits({}, logits, 0.5, {}, 1)) << "both could be 1.5";
  EXPECT_FALSE(redraw.admits({}, logits, 9, {}, 3)) << "a grammar forbids it";
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    EXPECT_FALSE(redraw.admits({.temperature = 1, .top_k = 2, .seed = seed}, logits, 0.1, {}, 2));
    EXPECT_FALSE(redraw.admits({.temperature = 1, .min_p = 0.5, .seed = seed}, logits, 0.1, {}, 1));
    EXPECT_FALSE(redraw.admits({.temperature = 1, .top_p = 0.5, .seed = seed}, logits, 0.1, {}, 1));
  }
}

TEST(Redraw, MeasuresTheDistanceByTheSpreadOfLogits) {
  std::vector<float> logits = {1, 3, -INFINITY, NAN, 1, 3};
  const double slack = logit_slack(logits, 0.001);
  EXPECT_GT(slack, 0);
  for (float& logit : logits) logit = 10 * logit + 5;
  EXPECT_NEAR(logit_slack(logits, 0.001), 10 * slack, 1e-9);
  EXPECT_EQ(logit_slack({}, 0.001), 0);
}

}  // namespace
}  // namespace weft::llm
