// A fingerprint is small, names the values of its vector, and agrees with vectors that differ by
// rounding and with no others.
#include "common/proof/fingerprint.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "common/proof/half.h"

namespace weft::proof {
namespace {

std::vector<float> random_hidden(std::size_t width, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, 1);
  std::vector<float> hidden(width);
  for (float& value : hidden) value = normal(random);
  return hidden;
}

// Adds a normal error of `relative` of the vector's scale to every element.
std::vector<float> disturbed(std::vector<float> hidden, float relative, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, relative);
  for (float& value : hidden) value += normal(random);
  return hidden;
}

TEST(Fingerprint, IsAtMost258BytesWhateverTheWidth) {
  for (const std::size_t width : {1U, 2U, 63U, 64U, 65U, 288U, 4096U, 65536U})
    EXPECT_EQ(fingerprint(random_hidden(width, 1)).value().size(),
              2 + 4 * std::min<std::size_t>(width, 64))
        << width;
  EXPECT_EQ(fingerprint_bytes_max, 258U);
}

TEST(Fingerprint, IsEvery32PositionsAndTheLast) {
  EXPECT_EQ(fingerprint_positions(0), (std::vector<std::uint32_t>{}));
  EXPECT_EQ(fingerprint_positions(1), (std::vector<std::uint32_t>{0}));
  EXPECT_EQ(fingerprint_positions(32), (std::vector<std::uint32_t>{31}));
  EXPECT_EQ(fingerprint_positions(33), (std::vector<std::uint32_t>{31, 32}));
  EXPECT_EQ(fingerprint_positions(96), (std::vector<std::uint32_t>{31, 63, 95}));
}

TEST(Fingerprint, AgreesWithItselfUpToItsRounding) {
  for (const float scale : {1e-30F, 1e-6F, 1.0F, 1e5F, 1e30F}) {
    for (unsigned seed = 0; seed < 50; ++seed) {
      std::vector<float> hidden = random_hidden(1 + seed * 37, seed);
      for (float& value : hidden) value *= scale;
      const auto distance = fingerprint_distance(fingerprint(hidden).value(), hidden);
      ASSERT_TRUE(distance.has_value()) << distance.error().message;
      EXPECT_LE(distance->error, 0x1p-11) << scale << " seed " << seed;
      EXPECT_EQ(distance->missing, 0) << scale << " seed " << seed;
    }
  }
}

TEST(Fingerprint, TellsWeightsOfFewerBitsFromRounding) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    const std::size_t width = std::size_t{64} << seed % 7;
    const std::vector<float> hidden = random_hidden(width, seed);
    const std::vector<ByteVector> claimed = {fingerprint(hidden).value()};
    const auto accepts = [&](float error) {
      return check_fingerprints(claimed, disturbed(hidden, error, seed + 1000), width).accepted;
    };
    // The sum of all errors that the header lists.
    EXPECT_TRUE(accepts(0.001F)) << "seed " << seed;
    EXPECT_FALSE(accepts(0.07F)) << "seed " << seed;  // The error of weights in Q4_0.
  }
}

// Hidden states of language models have a few dimensions whose numbers are hundreds of times the
// other numbers and hardly change.
TEST(Fingerprint, IsNotBlindedByOutlierDimensions) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    std::vector<float> hidden = random_hidden(1024, seed);
    std::vector<float> other = disturbed(hidden, 0.07F, seed + 1000);
    for (std::size_t i = 0; i < 6; ++i) hidden[i * 100] = other[i * 100] = 900.0F;
    const std::vector<ByteVector> claimed = {fingerprint(hidden).value()};

    EXPECT_TRUE(check_fingerprints(claimed, hidden, 1024).accepted);
    EXPECT_FALSE(check_fingerprints(claimed, other, 1024).accepted) << "seed " << seed;
  }
}

TEST(Fingerprint, RefusesOneWrongPositionOfMany) {
  constexpr std::size_t width = 128;
  const std::vector<float> hidden = random_hidden(width * 100, 3);
  std::vector<ByteVector> claimed;
  for (const std::uint32_t position : fingerprint_positions(100))
    claimed.push_back(fingerprint(std::span(hidden).subspan(position * width, width)).value());
  ASSERT_EQ(claimed.size(), 4U);
  EXPECT_TRUE(check_fingerprints(claimed, hidden, width).accepted);

  for (std::size_t i = 0; i < claimed.size(); ++i) {
    std::vector<ByteVector> wrong = claimed;
    wrong[i] = fingerprint(random_hidden(width, 99)).value();
    const SessionVerdict verdict = check_fingerprints(wrong, hidden, width);
    EXPECT_FALSE(verdict.accepted);
    EXPECT_TRUE(
        verdict.reason.starts_with("At position " + std::to_string(fingerprint_positions(100)[i])))
        << verdict.reason;
  }
  claimed.pop_back();
  EXPECT_FALSE(check_fingerprints(claimed, hidden, width).accepted);
}

TEST(Fingerprint, RefusesBytesThatAreNone) {
  const std::vector<float> hidden = random_hidden(128, 5);
  const ByteVector good = fingerprint(hidden).value();
  const auto refused = [&](ByteVector bytes) {
    const auto distance = fingerprint_distance(bytes, hidden);
    return !distance && distance.error().code == ErrorCode::invalid_argument;
  };

  ByteVector bytes = good;
  bytes.pop_back();
  EXPECT_TRUE(refused(bytes));
  EXPECT_TRUE(refused({}));
  bytes = good;
  bytes[0] = 63;
  EXPECT_TRUE(refused(bytes));
  bytes = good;
  bytes[2] = bytes[6];  // An index that occurs twice.
  bytes[3] = bytes[7];
  EXPECT_TRUE(refused(bytes));
  bytes = good;
  bytes[2 + 4 * 63 + 1] = 0xff;  // An index past the end.
  EXPECT_TRUE(refused(bytes));
  bytes = good;
  bytes[4] = 0;
  bytes[5] = 0x7c;  // A value that is infinite.
  EXPECT_TRUE(refused(bytes));
}

TEST(Fingerprint, IsNotMadeOfWhatIsNoHiddenState) {
  EXPECT_FALSE(fingerprint({}).has_value());
  EXPECT_FALSE(fingerprint(std::vector<float>(65537, 1.0F)).has_value());
  EXPECT_FALSE(fingerprint(std::vector<float>(64, 0.0F)).has_value());
  EXPECT_FALSE(
      fingerprint(std::vector<float>{1, std::numeric_limits<float>::quiet_NaN()}).has_value());
  EXPECT_FALSE(
      fingerprint(std::vector<float>{1, std::numeric_limits<float>::infinity()}).has_value());
}

TEST(Half, IsWhatItWasForEveryHalf) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const float value = from_half(half);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(from_half(to_half(value))));
    } else {
      ASSERT_EQ(to_half(value), half) << value;
    }
  }
}

TEST(Half, IsTheNearestOfTwo) {
  for (std::uint16_t bits = 0; bits < 0x7bff; ++bits) {
    const float low = from_half(bits);
    const float high = from_half(static_cast<std::uint16_t>(bits + 1));
    const float middle = (low + high) / 2;
    ASSERT_EQ(to_half(std::nextafter(middle, low)), bits);
    ASSERT_EQ(to_half(std::nextafter(middle, high)), bits + 1);
    ASSERT_EQ(to_half(middle), bits % 2 == 0 ? bits : bits + 1);
  }
}

}  // namespace
}  // namespace weft::proof
