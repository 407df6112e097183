// Tests of the likelihood of smaller weights: honest claims do not come near the bound, however
// many claims there are. Claims of smaller weights pass the bound, even if the noise of the
// arithmetic is several times the change by the weights.
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

// The largest sum over `fingerprints` fingerprints of a claim with noise of k times the change by
// the weights.
double farthest(bool smaller, double k, int fingerprints, std::uint32_t seed) {
  Machine machine(seed);
  double sum = 0, most = 0;
  for (int i = 0; i < fingerprints; ++i) {
    const auto promised = machine.state();
    const auto rounded = machine.with(promised, moved);
    const auto said = machine.with(smaller ? rounded : promised, moved * k);
    sum += smaller_weights_ratio(fingerprint(said).value(), promised, rounded).value();
    most = std::max(most, sum);
  }
  return most;
}

TEST(SmallerWeights, HonestClaimsNeverComeToTheBound) {
  for (const double k : {0.0, 0.3, 1.0, 5.0, 10.0, 17.0}) {
    double most = 0;
    for (std::uint32_t seed = 0; seed < 40; ++seed)
      most = std::max(most, farthest(false, k, 128, seed));
    EXPECT_LT(most, ratio_least) << "noise " << k;
  }
}

TEST(SmallerWeights, AreFoundWithin4096TokensInNinetyNineOfAHundred) {
  for (const double k : {0.0, 1.0, 5.0, 10.0}) {
    int found = 0;
    for (std::uint32_t seed = 0; seed < 100; ++seed)
      found += farthest(true, k, 128, seed) >= ratio_least ? 1 : 0;
    EXPECT_GE(found, 99) << "noise " << k;
  }
}

TEST(SmallerWeights, AreFoundAtOnceWhereTheArithmeticsNoiseIsLess) {
  for (std::uint32_t seed = 0; seed < 200; ++seed)
    EXPECT_GE(farthest(true, 0.3, 1, seed), ratio_least) << seed;
}

TEST(SmallerWeights, SayNothingWhereTheyChangeNothing) {
  Machine machine(1);
  const auto state = machine.state();
  const auto said = fingerprint(machine.with(state, 0.01)).value();
  EXPECT_EQ(smaller_weights_ratio(said, state, state).value(), 0);
  EXPECT_FALSE(smaller_weights_ratio(said, state, std::span(state).first(5)).has_value());
  EXPECT_FALSE(smaller_weights_ratio({}, state, state).has_value());
}

}  // namespace
}  // namespace weft::proof
