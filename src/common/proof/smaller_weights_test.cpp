// Tests of the likelihood of smaller weights: honest claims do not come near the bound, however
// many claims there are. Claims of smaller weights pass the bound, even if the noise of the
// arithmetic is several times the change by the weights, if the auditor's readings are fingerprints
// too, and after a long honest past.
#include "common/proof/smaller_weights.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "common/proof/fingerprint.h"

namespace weft::proof {
namespace {

constexpr std::size_t width = 256;
constexpr double moved = 0.004;  // The change of a number by the smaller weights.

struct Machine {
  explicit Machine(std::uint32_t seed) : random(seed) {}
  std::vector<float> state() {
    std::vector<float> out(width);
    for (float& value : out) value = normal(random);
    return out;
  }
  std::vector<float> with(std::vector<float> state, double share) {
    for (float& value : state)
      value += static_cast<float>(share * std::max(0.2F, std::abs(value)) * normal(random));
    return state;
  }
  std::mt19937 random;
  std::normal_distribution<float> normal{0, 1};
};

// The sum over `fingerprints` fingerprints of a claim with noise of k times the change by the
// weights, after the sum `begins`. The auditor's readings are fingerprints, as in audits.
// `spoiled` entries of each claim are made far too large or too small.
RatioSum sum_of(bool smaller, double k, int fingerprints, std::uint32_t seed, double begins = 0,
                std::size_t spoiled = 0) {
  Machine machine(seed);
  std::vector<double> ratios;
  for (int i = 0; i < fingerprints; ++i) {
    const auto promised = machine.state();
    const auto rounded = machine.with(promised, moved);
    auto said = machine.with(smaller ? rounded : promised, moved * k);
    std::size_t left = spoiled;
    for (float& value : said) {
      if (left == 0 || std::abs(value) < 1.5F) continue;
      value *= left % 2 == 0 ? 1.08F : 0.92F;
      --left;
    }
    ratios.push_back(smaller_weights_ratio(fingerprint(said).value(), fingerprint(promised).value(),
                                           fingerprint(rounded).value(), width)
                         .value());
  }
  return add_ratios(begins, ratios);
}

TEST(SmallerWeights, HonestClaimsNeverComeToTheBound) {
  for (const double k : {0.0, 0.3, 1.0, 5.0, 10.0, 17.0}) {
    double most = 0;
    for (std::uint32_t seed = 0; seed < 40; ++seed)
      most = std::max(most, sum_of(false, k, 128, seed).highest);
    EXPECT_LT(most, ratio_least) << "noise " << k;
  }
}

// The mean of exp(ratio) is 1 at most for honest claims, which is what the bound follows from.
TEST(SmallerWeights, AnHonestRatioHasAnExponentialOfMeanOneAtMost) {
  for (const double k : {2.0, 4.0, 8.0, 16.0}) {
    Machine machine(7);
    double sum = 0;
    constexpr int count = 20'000;
    for (int i = 0; i < count; ++i) {
      const auto promised = machine.state();
      const auto rounded = machine.with(promised, moved);
      const auto said = machine.with(promised, moved * k);
      sum += std::exp(smaller_weights_ratio(fingerprint(said).value(), promised, rounded).value());
    }
    // The mean of 20,000 values of a log-normal number of deviation up to 2 varies by 5 %.
    EXPECT_LT(sum / count, 1.2) << "noise " << k;
  }
}

TEST(SmallerWeights, AreFoundWithin4096TokensInNinetyNineOfAHundred) {
  for (const double k : {0.0, 1.0, 5.0, 7.0}) {
    int found = 0;
    for (std::uint32_t seed = 0; seed < 100; ++seed)
      found += sum_of(true, k, 128, seed).highest >= ratio_least ? 1 : 0;
    EXPECT_GE(found, 99) << "noise " << k;
  }
}

TEST(SmallerWeights, AreFoundWithin64TokensIfTheArithmeticsNoiseIsSmall) {
  for (std::uint32_t seed = 0; seed < 200; ++seed)
    EXPECT_GE(sum_of(true, 0.3, 2, seed).highest, ratio_least) << seed;
}

TEST(SmallerWeights, AreFoundThoughAWorkerSpoilsEntriesThatNoMedianShows) {
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    EXPECT_GE(sum_of(true, 0.3, 128, seed, 0, 20).highest, ratio_least) << seed;
    EXPECT_LT(sum_of(false, 0.3, 128, seed, 0, 20).highest, ratio_least) << seed;
  }
}

TEST(SmallerWeights, AreFoundAsSoonAfterALongHonestPast) {
  const RatioSum honest = sum_of(false, 1, 2000, 1);
  EXPECT_EQ(honest.sum, 0);
  EXPECT_GE(sum_of(true, 0.3, 2, 2, honest.sum).highest, ratio_least);
}

TEST(SmallerWeights, OfASumAreBoundedOnBothSides) {
  const std::vector<double> ratios{-1000, 20, 20, -5};
  const RatioSum sum = add_ratios(3, ratios);
  EXPECT_EQ(sum.highest, ratio_least);
  EXPECT_EQ(sum.sum, ratio_least - 5);
  EXPECT_EQ(add_ratios(3, {}).sum, 3);
}

TEST(SmallerWeights, SayNothingIfTheyChangeNothing) {
  Machine machine(1);
  const auto state = machine.state();
  const auto said = fingerprint(machine.with(state, 0.01)).value();
  EXPECT_EQ(smaller_weights_ratio(said, state, state).value(), 0);
  // A change of the size of the fingerprints' rounding is not independent of the error.
  const auto nearly = machine.with(state, 2e-4);
  EXPECT_EQ(smaller_weights_ratio(said, state, nearly).value(), 0);
  EXPECT_FALSE(smaller_weights_ratio(said, state, std::span(state).first(5)).has_value());
  EXPECT_FALSE(smaller_weights_ratio({}, state, state).has_value());
}

TEST(SmallerWeights, OfReadingsThatShareTooFewEntriesSayNothing) {
  Machine machine(1);
  const auto state = machine.state(), other = machine.state(), rounded = machine.with(state, moved);
  const auto of = [](const std::vector<float>& row) { return fingerprint(row).value(); };

  EXPECT_EQ(smaller_weights_ratio(of(other), of(state), of(rounded), width).value(), 0);
  EXPECT_NE(smaller_weights_ratio(of(rounded), of(state), of(rounded), width).value(), 0);
  EXPECT_FALSE(smaller_weights_ratio(of(state), of(state), {}, width).has_value());
  EXPECT_FALSE(smaller_weights_ratio(of(state), of(state), of(rounded), 32).has_value());
}

}  // namespace
}  // namespace weft::proof
