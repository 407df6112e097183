#include "common/proof/compare.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>

#include "common/base/format.h"
#include "common/proof/half.h"

namespace weft::proof {
namespace {

template <class T>
T element(ByteSpan bytes, std::size_t index) {
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}

bool agree(double a, double b, const Tolerance& tolerance) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (std::isinf(a) || std::isinf(b)) return a == b;
  return std::abs(a - b) <=
         tolerance.absolute + tolerance.relative * std::max(std::abs(a), std::abs(b));
}

template <class T, class Decode, class Agree>
std::optional<std::string> first_difference(ByteSpan a, ByteSpan b, Decode decode, Agree agrees) {
  const std::size_t count = a.size() / sizeof(T);
  for (std::size_t i = 0; i < count; ++i) {
    const auto left = decode(element<T>(a, i));
    const auto right = decode(element<T>(b, i));
    if (!agrees(left, right))
      return weft::format("element {} is {} here and {} there", i, left, right);
  }
  if (!std::ranges::equal(a.subspan(count * sizeof(T)), b.subspan(count * sizeof(T))))
    return "the bytes after the last element differ";
  return std::nullopt;
}

std::optional<std::string> size_difference(ByteSpan a, ByteSpan b) {
  if (a.size() == b.size()) return std::nullopt;
  return weft::format("{} bytes here and {} there", a.size(), b.size());
}

}  // namespace

std::optional<std::string> difference(ByteSpan a, ByteSpan b, NumberType type,
                                      const Tolerance& tolerance) {
  static_assert(std::endian::native == std::endian::little, "outputs are little-endian");
  if (auto sizes = size_difference(a, b)) return sizes;
  const auto same = [](auto left, auto right) { return left == right; };
  const auto close = [&](float left, float right) { return agree(left, right, tolerance); };
  switch (type) {
    case NumberType::i32:
      return first_difference<std::int32_t>(a, b, std::identity(), same);
    case NumberType::u32:
      return first_difference<std::uint32_t>(a, b, std::identity(), same);
    case NumberType::f32:
      return first_difference<float>(a, b, std::identity(), close);
    case NumberType::f16:
      return first_difference<std::uint16_t>(a, b, from_half, close);
  }
  return "an unknown type";
}

std::optional<std::string> difference_exact(ByteSpan a, ByteSpan b) {
  if (auto sizes = size_difference(a, b)) return sizes;
  const auto [left, right] = std::ranges::mismatch(a, b);
  if (left == a.end()) return std::nullopt;
  return weft::format("byte {} is {} here and {} there", left - a.begin(), *left, *right);
}

}  // namespace weft::proof
