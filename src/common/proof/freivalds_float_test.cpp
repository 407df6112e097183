// Right products pass, however they were summed; products that are wrong by more than rounding do
// not.
#include "common/proof/freivalds_float.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "common/proof/half.h"

namespace weft::proof {
namespace {

// The orders in which a device may add up.
enum class Order { forward, backward, pairs, fused, tiles };

float sum_of(const std::vector<float>& a, const std::vector<float>& b, Order order) {
  const std::size_t k = a.size();
  float sum = 0;
  switch (order) {
    case Order::forward:
      for (std::size_t i = 0; i < k; ++i) sum += a[i] * b[i];
      return sum;
    case Order::backward:
      for (std::size_t i = k; i-- > 0;) sum += a[i] * b[i];
      return sum;
    case Order::fused:
      for (std::size_t i = 0; i < k; ++i) sum = std::fma(a[i], b[i], sum);
      return sum;
    case Order::tiles: {
      float lanes[8] = {};
      for (std::size_t i = 0; i < k; ++i) lanes[i % 8] += a[i] * b[i];
      for (const float lane : lanes) sum += lane;
      return sum;
    }
    case Order::pairs: {
      std::vector<float> level(k);
      for (std::size_t i = 0; i < k; ++i) level[i] = a[i] * b[i];
      while (level.size() > 1) {
        std::vector<float> next;
        for (std::size_t i = 0; i + 1 < level.size(); i += 2)
          next.push_back(level[i] + level[i + 1]);
        if (level.size() % 2 == 1) next.push_back(level.back());
        level = std::move(next);
      }
      return level.empty() ? 0 : level[0];
    }
  }
  return sum;
}

struct Matrices {
  std::uint32_t m;
  std::uint32_t n;
  std::uint32_t k;
  std::vector<float> a;
  std::vector<float> b;
  std::vector<float> c;

  [[nodiscard]] FloatProduct product() const {
    return {.m = m, .n = n, .k = k, .a = a, .b = b, .c = c};
  }
};

// Elements have both signs, or only one (then rounding adds up the most).
Matrices multiplied(std::uint32_t m, std::uint32_t n, std::uint32_t k, unsigned seed, Order order,
                    bool positive = false) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, 1);
  const auto element = [&] { return positive ? std::abs(normal(random)) : normal(random); };
  Matrices x{.m = m,
             .n = n,
             .k = k,
             .a = std::vector<float>(std::size_t{m} * k),
             .b = std::vector<float>(std::size_t{k} * n),
             .c = std::vector<float>(std::size_t{m} * n)};
  for (float& value : x.a) value = element();
  for (float& value : x.b) value = element();
  std::vector<float> row(k);
  std::vector<float> column(k);
  for (std::uint32_t i = 0; i < m; ++i) {
    for (std::uint32_t j = 0; j < n; ++j) {
      for (std::uint32_t l = 0; l < k; ++l) {
        row[l] = x.a[std::size_t{i} * k + l];
        column[l] = x.b[std::size_t{l} * n + j];
      }
      x.c[std::size_t{i} * n + j] = sum_of(row, column, order);
    }
  }
  return x;
}

TEST(FreivaldsOfFloats, AcceptsRightProductsInWhateverOrderTheyWereSummed) {
  unsigned seed = 0;
  for (const auto [m, n, k] : {std::array{1U, 1U, 1U},
                               {1U, 7U, 3U},
                               {5U, 1U, 9U},
                               {16U, 16U, 16U},
                               {33U, 17U, 65U},
                               {8U, 8U, 4096U},
                               {64U, 64U, 300U}}) {
    for (const Order order :
         {Order::forward, Order::backward, Order::pairs, Order::fused, Order::tiles}) {
      for (const bool positive : {false, true}) {
        const Matrices x = multiplied(m, n, k, ++seed, order, positive);
        for (std::uint64_t check = 0; check < 20; ++check)
          EXPECT_TRUE(freivalds_accepts(x.product(), check * 7919)) << m << "x" << n << "x" << k;
      }
    }
  }
}

TEST(FreivaldsOfFloats, AcceptsWhateverTheScale) {
  for (const float scale : {0x1p-60F, 0x1p-30F, 0x1p30F, 0x1p60F}) {
    Matrices x = multiplied(9, 11, 64, 4, Order::forward);
    for (float& value : x.a) value *= scale;
    for (float& value : x.c) value *= scale;
    EXPECT_TRUE(freivalds_accepts(x.product(), 1)) << scale;
    x.c[5] += scale;
    EXPECT_FALSE(freivalds_accepts(x.product(), 1)) << scale;
  }
}

TEST(FreivaldsOfFloats, RefusesOneWrongElementWhereverItIs) {
  Matrices x = multiplied(9, 11, 128, 3, Order::forward);
  for (std::size_t i = 0; i < x.c.size(); ++i) {
    const float right = x.c[i];
    for (const float wrong : {right + 2, right - 2, -right, 0.0F}) {
      // 2 is a fifth of a typical element, and 600 times the bound.
      if (std::abs(wrong - right) < 2) continue;
      x.c[i] = wrong;
      EXPECT_FALSE(freivalds_accepts(x.product(), i)) << i << ": " << wrong << " for " << right;
    }
    x.c[i] = right;
  }
  EXPECT_TRUE(freivalds_accepts(x.product(), 0));
}

// Errors of f times the bound pass at most as often as the header of the check says.
TEST(FreivaldsOfFloats, MissesErrorsNoMoreOftenThanItsHeaderSays) {
  Matrices x = multiplied(4, 64, 256, 11, Order::forward);
  double a = 0;
  double b = 0;
  for (std::size_t l = 0; l < 256; ++l) a += static_cast<double>(x.a[l]) * x.a[l];
  for (const float value : x.b) b += static_cast<double>(value) * value;
  const double bound = 256 * 0x1p-24 * std::sqrt(a * b);
  x.c[7] += static_cast<float>(100 * bound);
  constexpr int checks = 4000;
  int passed = 0;
  for (int seed = 0; seed < checks; ++seed)
    passed += freivalds_accepts(x.product(), static_cast<std::uint64_t>(seed), {}, 1) ? 1 : 0;
  const double expected = 9 * std::sqrt(2 / 3.14159265) / 100;
  EXPECT_LE(passed, checks * expected + 4 * std::sqrt(checks * expected));
  EXPECT_GT(passed, 0);  // One round is not enough, as this test shows.
}

TEST(FreivaldsOfFloats, RefusesWeightsOfFewerBits) {
  // B is rounded to four bits, as by a worker that saves memory.
  Matrices x = multiplied(16, 32, 256, 5, Order::forward);
  Matrices rounded = x;
  for (float& value : rounded.b) value = std::round(value * 2) / 2;
  for (std::uint32_t i = 0; i < x.m; ++i) {
    for (std::uint32_t j = 0; j < x.n; ++j) {
      float sum = 0;
      for (std::uint32_t l = 0; l < x.k; ++l)
        sum += rounded.a[i * x.k + l] * rounded.b[l * x.n + j];
      x.c[i * x.n + j] = sum;
    }
  }
  for (std::uint64_t seed = 0; seed < 100; ++seed)
    EXPECT_FALSE(freivalds_accepts(x.product(), seed));
}

TEST(FreivaldsOfFloats, KnowsOfResultsThatWereStoredAsHalves) {
  Matrices x = multiplied(16, 32, 256, 6, Order::forward);
  for (float& value : x.c) value = from_half(to_half(value));
  EXPECT_TRUE(freivalds_accepts(x.product(), 1, {.output_unit = 0x1p-11}));
  for (float& value : x.c) value = std::round(value / 4) * 4;
  EXPECT_FALSE(freivalds_accepts(x.product(), 1, {.output_unit = 0x1p-11}));
}

TEST(FreivaldsOfFloats, RefusesWhatIsNotFinite) {
  for (const float odd :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    Matrices x = multiplied(4, 6, 5, 8, Order::forward);
    x.c[3] = odd;
    EXPECT_FALSE(freivalds_accepts(x.product(), 42));
    x = multiplied(4, 6, 5, 8, Order::forward);
    x.a[3] = odd;
    EXPECT_FALSE(freivalds_accepts(x.product(), 42));
  }
}

TEST(FreivaldsOfFloats, RefusesMatricesOfTheWrongSize) {
  Matrices x = multiplied(4, 6, 5, 8, Order::forward);
  x.c.pop_back();
  EXPECT_FALSE(freivalds_accepts(x.product(), 1));
  x = multiplied(4, 6, 5, 8, Order::forward);
  x.n = 5;
  EXPECT_FALSE(freivalds_accepts(x.product(), 1));
  x = multiplied(4, 6, 5, 8, Order::forward);
  x.a.push_back(0);
  EXPECT_FALSE(freivalds_accepts(x.product(), 1));
}

}  // namespace
}  // namespace weft::proof
