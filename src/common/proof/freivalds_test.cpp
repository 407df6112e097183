// Right products pass whatever the seed; a product with one wrong element, or of the wrong size,
// does not.
#include "common/proof/freivalds.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace weft::proof {
namespace {

struct Matrices {
  std::uint32_t m;
  std::uint32_t n;
  std::uint32_t k;
  std::vector<std::int8_t> a;
  std::vector<std::int8_t> b;
  std::vector<std::int32_t> c;

  [[nodiscard]] MatrixProduct product() const {
    return {.m = m, .n = n, .k = k, .a = a, .b = b, .c = c};
  }
};

Matrices multiplied(std::uint32_t m, std::uint32_t n, std::uint32_t k, auto element) {
  Matrices x{.m = m,
             .n = n,
             .k = k,
             .a = std::vector<std::int8_t>(std::size_t{m} * k),
             .b = std::vector<std::int8_t>(std::size_t{k} * n),
             .c = std::vector<std::int32_t>(std::size_t{m} * n)};
  for (auto& value : x.a) value = element();
  for (auto& value : x.b) value = element();
  for (std::uint32_t i = 0; i < m; ++i) {
    for (std::uint32_t j = 0; j < n; ++j) {
      for (std::uint32_t l = 0; l < k; ++l) x.c[i * n + j] += x.a[i * k + l] * x.b[l * n + j];
    }
  }
  return x;
}

Matrices random_product(std::uint32_t m, std::uint32_t n, std::uint32_t k, unsigned seed) {
  std::mt19937 random(seed);
  return multiplied(m, n, k, [&] { return static_cast<std::int8_t>(random()); });
}

TEST(Freivalds, AcceptsRightProductsOfEveryShape) {
  for (const auto [m, n, k] :
       {std::array{1U, 1U, 1U}, {1U, 7U, 3U}, {5U, 1U, 9U}, {16U, 16U, 16U}, {33U, 17U, 65U}}) {
    for (unsigned seed = 0; seed < 5; ++seed)
      EXPECT_TRUE(
          freivalds_accepts(random_product(m, n, k, seed).product(), std::uint64_t{seed} * 7919))
          << m << "x" << n << "x" << k;
  }
}

TEST(Freivalds, AcceptsTheExtremesOfInt8) {
  EXPECT_TRUE(
      freivalds_accepts(multiplied(8, 8, 512, [] { return std::int8_t{-128}; }).product(), 1));
  int at = 0;
  EXPECT_TRUE(freivalds_accepts(
      multiplied(8, 8, 512, [&] { return at++ % 2 == 0 ? std::int8_t{-128} : std::int8_t{127}; })
          .product(),
      1));
}

// The check takes 1024 elements of A and B, and fewer of C, at a time.
TEST(Freivalds, ChecksRowsOfSeveralParts) {
  for (const auto [m, n, k] : {std::array{3U, 1023U, 1025U}, {3U, 1025U, 2049U}, {2U, 3000U, 5U}}) {
    Matrices x = random_product(m, n, k, m + n);
    EXPECT_TRUE(freivalds_accepts(x.product(), 7));
    for (const std::size_t at : {std::size_t{0}, std::size_t{n} - 1, x.c.size() - 1}) {
      ++x.c[at];
      EXPECT_FALSE(freivalds_accepts(x.product(), 7)) << at;
      --x.c[at];
    }
  }
}

TEST(Freivalds, RefusesWhatNoProductCanBe) {
  Matrices x = random_product(4, 6, 5, 8);
  for (const std::int32_t wrong : {std::numeric_limits<std::int32_t>::max(),
                                   std::numeric_limits<std::int32_t>::min(), 1 << 20, -(1 << 20)}) {
    const std::int32_t right = std::exchange(x.c[9], wrong);
    EXPECT_FALSE(freivalds_accepts(x.product(), 3)) << wrong;
    x.c[9] = right;
  }
}

TEST(Freivalds, RefusesOneWrongElementWhereverItIs) {
  Matrices x = random_product(9, 11, 13, 3);
  for (std::size_t i = 0; i < x.c.size(); ++i) {
    for (const std::int32_t wrong :
         {x.c[i] + 1, x.c[i] - 1, -x.c[i] - 1, std::numeric_limits<std::int32_t>::min()}) {
      const std::int32_t right = std::exchange(x.c[i], wrong);
      EXPECT_FALSE(freivalds_accepts(x.product(), i)) << i;
      x.c[i] = right;
    }
  }
  EXPECT_TRUE(freivalds_accepts(x.product(), 0));
}

TEST(Freivalds, RefusesErrorsThatCancelInARow) {
  Matrices x = random_product(4, 6, 5, 8);
  x.c[0] += 5;
  x.c[1] -= 5;  // The row's sum stays right, so a check with a vector of ones would accept it.
  EXPECT_FALSE(freivalds_accepts(x.product(), 42));
}

TEST(Freivalds, RefusesMatricesOfTheWrongSize) {
  Matrices x = random_product(4, 6, 5, 8);
  x.c.pop_back();
  EXPECT_FALSE(freivalds_accepts(x.product(), 1));
  x = random_product(4, 6, 5, 8);
  x.n = 5;
  EXPECT_FALSE(freivalds_accepts(x.product(), 1));
  x = random_product(4, 6, 5, 8);
  x.a.push_back(0);
  EXPECT_FALSE(freivalds_accepts(x.product(), 1));
}

}  // namespace
}  // namespace weft::proof
