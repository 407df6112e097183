#include "decisions/inference/vectors.h"

#include <bit>
#include <cmath>

#include "common/base/bytes.h"

namespace weft::inference {

Result<std::vector<float>> read_vector(std::string_view base64, std::uint32_t width) {
  const auto bytes = from_base64(base64);
  if (!bytes || bytes->size() != std::size_t{width} * sizeof(float))
    return fail(ErrorCode::data_loss, "The vector is not {} numbers in base64.", width);
  std::vector<float> out;
  out.reserve(width);
  double squares = 0;
  for (std::size_t at = 0; at < bytes->size(); at += sizeof(float)) {
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < sizeof bits; ++i)
      bits |= std::uint32_t{(*bytes)[at + i]} << (8 * i);
    out.push_back(std::bit_cast<float>(bits));
    squares += double{out.back()} * out.back();
  }
  // The greatest difference from 1. The rounding of f32 sums of 16,384 numbers is far smaller.
  constexpr double off_max = 1e-3;
  // The negated comparison is also true for numbers that are not finite.
  if (!(std::abs(squares - 1) <= off_max))
    return fail(ErrorCode::data_loss, "The vector's squares add up to {:.6f} and not to 1.",
                squares);
  return out;
}

}  // namespace weft::inference
