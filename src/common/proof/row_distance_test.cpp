// Rows of hidden states compared whole: small differences count as what they are, changes beside
// the largest numbers are seen, and one outlier decides nothing.
#include "common/proof/row_distance.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <vector>

#include "common/proof/fingerprint.h"

namespace weft::proof {
namespace {

std::vector<float> row(std::uint32_t seed, std::size_t width = 1024) {
  std::mt19937 random(seed);
  std::vector<float> out(width);
  for (float& value : out) value = std::normal_distribution<float>(0, 1)(random);
  return out;
}

TEST(RowDistance, IsTheShareThatNumbersAreOff) {
  const auto own = row(1);
  auto claimed = own;
  EXPECT_EQ(row_distance(claimed, own).value(), 0);
  for (float& value : claimed) value *= 1.01F;
  const double distance = row_distance(claimed, own).value();
  EXPECT_GT(distance, 0.002);
  EXPECT_LT(distance, 0.01);
  EXPECT_GT(row_distance(row(2), own).value(), 0.5) << "of two that have nothing in common";
}

// Errors that a fingerprint alone would not find.
TEST(RowDistance, SeesWhatIsWrongBesideTheLargestNumbers) {
  auto own = row(3);
  for (std::size_t i = 0; i < 64; ++i) own[i * 16] = 100 + static_cast<float>(i);
  auto claimed = own;
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (i % 16 != 0) claimed[i] = 0;
  }
  EXPECT_LT(fingerprint_distance(fingerprint(claimed).value(), own)->error, 0.001);
  EXPECT_GT(row_distance(claimed, own).value(), 0.3);
}

TEST(RowDistance, OneOutlierNeitherMakesNorHidesAnError) {
  auto own = row(4);
  auto claimed = own;
  claimed[5] = 1e30F;
  EXPECT_LE(row_distance(claimed, own).value(), 1.0 / 1024);
  own[5] = claimed[5];
  for (std::size_t i = 6; i < own.size(); ++i) claimed[i] = own[i] * 1.1F;
  EXPECT_GT(row_distance(claimed, own).value(), 0.02);
}

TEST(RowDistance, WhatCannotBeComparedIsRefused) {
  EXPECT_FALSE(row_distance({}, {}).has_value());
  EXPECT_FALSE(row_distance(row(1, 3), row(1, 4)).has_value());
  auto claimed = row(1, 8);
  claimed[2] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(row_distance(claimed, row(1, 8)).has_value());
  EXPECT_EQ(row_distance(std::vector<float>(8), std::vector<float>(8)).value(), 0);
}

}  // namespace
}  // namespace weft::proof
