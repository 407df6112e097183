// When two results agree, row by row: |a - b| <= absolute + relative * max(|a|, |b|), NaN with NaN,
// infinities exactly.
#include "common/proof/compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace weft::proof {
namespace {

constexpr float inf = std::numeric_limits<float>::infinity();
const float nan_value = std::nanf("");

template <class T>
ByteVector bytes_of(std::vector<T> values) {
  const ByteSpan span = as_bytes(std::span<const T>(values));
  return {span.begin(), span.end()};
}

struct Row {
  float a;
  float b;
  double absolute;
  double relative;
  bool agree;
};

class Floats : public testing::TestWithParam<Row> {};
TEST_P(Floats, AgreeAsTheRuleSays) {
  const Row row = GetParam();
  const ByteVector a = bytes_of<float>({row.a});
  const ByteVector b = bytes_of<float>({row.b});
  const Tolerance tolerance{.absolute = row.absolute, .relative = row.relative};

  EXPECT_EQ(!difference(a, b, NumberType::f32, tolerance).has_value(), row.agree);
  // The comparison is symmetric.
  EXPECT_EQ(!difference(b, a, NumberType::f32, tolerance).has_value(), row.agree);
}
INSTANTIATE_TEST_SUITE_P(
    Rows, Floats,
    testing::Values(Row{1, 1, 0, 0, true}, Row{1, 1.5F, 0.5, 0, true}, Row{1, 1.5F, 0.25, 0, false},
                    Row{100, 150, 0, 0.34, true}, Row{100, 150, 0, 0.33, false},
                    Row{100, 150, 25, 0.17, true}, Row{0.0F, -0.0F, 0, 0, true},
                    Row{-1, 1, 1.9, 0, false}, Row{nan_value, nan_value, 0, 0, true},
                    Row{nan_value, 1, 1e30, 1, false}, Row{inf, inf, 0, 0, true},
                    Row{inf, -inf, 1e30, 1, false}, Row{inf, 3e38F, 1e39, 1, false},
                    Row{3e38F, -3e38F, 0, 2, true}, Row{1e-45F, 0, 0, 0, false}));

TEST(Difference, NamesTheFirstElementThatDiffers) {
  EXPECT_EQ(difference(bytes_of<float>({1, 0.5F, 9}), bytes_of<float>({1, 0.75F, 7}),
                       NumberType::f32, {}),
            "element 1 is 0.5 here and 0.75 there");
  EXPECT_EQ(
      difference(bytes_of<std::int32_t>({-1}), bytes_of<std::int32_t>({2}), NumberType::i32, {}),
      "element 0 is -1 here and 2 there");
  EXPECT_EQ(difference_exact(ByteVector{1, 2, 3}, ByteVector{1, 9, 3}),
            "byte 1 is 2 here and 9 there");
  EXPECT_EQ(difference_exact(ByteVector{1}, ByteVector{1, 2}), "1 bytes here and 2 there");
  EXPECT_EQ(
      difference(bytes_of<float>({1}), bytes_of<float>({1, 2}), NumberType::f32, {.absolute = 9}),
      "4 bytes here and 8 there");
  EXPECT_EQ(difference_exact({}, {}), std::nullopt);
}

TEST(Difference, ComparesIntegersExactlyWhateverTheTolerance) {
  const Tolerance loose{.absolute = 1000, .relative = 1};
  EXPECT_TRUE(
      difference(bytes_of<std::uint32_t>({7}), bytes_of<std::uint32_t>({8}), NumberType::u32, loose)
          .has_value());
  EXPECT_TRUE(
      difference(bytes_of<std::int32_t>({7}), bytes_of<std::int32_t>({8}), NumberType::i32, loose)
          .has_value());
  EXPECT_FALSE(difference(bytes_of<std::uint32_t>({0xffffffff}),
                          bytes_of<std::uint32_t>({0xffffffff}), NumberType::u32, {})
                   .has_value());
}

TEST(Difference, SeesBytesBehindTheLastWholeElement) {
  EXPECT_TRUE(difference(ByteVector{0, 0, 0, 0, 1}, ByteVector{0, 0, 0, 0, 2}, NumberType::f32,
                         {.absolute = 9})
                  .has_value());
}

TEST(Difference, ReadsHalfFloats) {
  // Bit patterns of IEEE 754 binary16: 1, -2, the largest (65504), the smallest subnormal (2^-24),
  // the smallest normal (2^-14).
  const std::vector<std::pair<std::uint16_t, const char*>> values = {{0x3c00, "1"},
                                                                     {0xc000, "-2"},
                                                                     {0x7bff, "65504"},
                                                                     {0x0001, "5.9604645e-08"},
                                                                     {0x0400, "6.1035156e-05"},
                                                                     {0x7c00, "inf"},
                                                                     {0xfc00, "-inf"},
                                                                     {0x3555, "0.33325195"}};
  for (const auto& [bits, text] : values) {
    const auto found = difference(bytes_of<std::uint16_t>({bits}),
                                  bytes_of<std::uint16_t>({0x4200}), NumberType::f16, {});
    EXPECT_EQ(found, std::string("element 0 is ") + text + " here and 3 there");
  }
  EXPECT_FALSE(difference(bytes_of<std::uint16_t>({0x7e00}), bytes_of<std::uint16_t>({0x7c01}),
                          NumberType::f16, {})
                   .has_value());  // Two NaNs.
  EXPECT_FALSE(difference(bytes_of<std::uint16_t>({0x3c00}), bytes_of<std::uint16_t>({0x3c01}),
                          NumberType::f16, {.absolute = 0.001})
                   .has_value());
  EXPECT_TRUE(difference(bytes_of<std::uint16_t>({0x3c00}), bytes_of<std::uint16_t>({0x3c01}),
                         NumberType::f16, {.absolute = 0.0009})
                  .has_value());
}

}  // namespace
}  // namespace weft::proof
