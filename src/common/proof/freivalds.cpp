#include "common/proof/freivalds.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <vector>

#include "common/proof/random.h"

namespace weft::proof {
namespace {

constexpr std::uint64_t prime =
    (std::uint64_t{1} << 61) - 1;  // A Mersenne prime: reduction is a shift and an add.

// GCC and clang have 128-bit integers on every target we build; -Wpedantic knows only the
// standard's types.
__extension__ using Wide = unsigned __int128;
__extension__ using SignedWide = __int128;

std::uint64_t reduce(Wide value) {
  // value < 2^128: two folds leave at most a little more than the prime.
  Wide folded = (value & prime) + (value >> 61);
  folded = (folded & prime) + (folded >> 61);
  const auto low = static_cast<std::uint64_t>(folded);
  return low >= prime ? low - prime : low;
}

std::uint64_t reduce_signed(SignedWide value) {
  if (value >= 0) return reduce(static_cast<Wide>(value));
  const std::uint64_t magnitude = reduce(static_cast<Wide>(-value));
  return magnitude == 0 ? 0 : prime - magnitude;
}

// Random words at or above the prime are rejected, so that every residue is equally likely.
class Residues {
 public:
  explicit Residues(std::uint64_t seed) : words_(seed) {}
  std::uint64_t next() {
    for (;;) {
      if (const std::uint64_t value = words_.next() >> 3; value < prime) return value;
    }
  }

 private:
  RandomWords words_;
};

// matrix[rows][vector.size()] * vector, for int8. The vector's residues are cut into five limbs of
// 13 bits, because processors add up products of 16-bit numbers eight at a time: |element| <= 2^7,
// so that 1024 products stay within 2^30.
std::vector<std::uint64_t> multiply(std::span<const std::int8_t> matrix, std::uint32_t rows,
                                    const std::vector<std::uint64_t>& vector) {
  constexpr std::size_t limb_bits = 13, limbs = 5, part_max = 1024;
  const std::size_t columns = vector.size();
  std::vector<std::int16_t> cut(limbs * columns);  // Indexed by limb, then column.
  for (std::size_t limb = 0; limb < limbs; ++limb) {
    for (std::size_t i = 0; i < columns; ++i)
      cut[limb * columns + i] =
          static_cast<std::int16_t>(vector[i] >> (limb * limb_bits) & ((1U << limb_bits) - 1));
  }
  std::vector<std::uint64_t> product(rows);
  std::array<std::int16_t, part_max> wide{};
  for (std::uint32_t row = 0; row < rows; ++row) {
    std::array<std::int64_t, limbs> sums{};
    for (std::size_t begin = 0; begin < columns; begin += part_max) {
      const std::size_t part = std::min(part_max, columns - begin);
      const std::int8_t* from = matrix.data() + row * columns + begin;
      // NOLINTNEXTLINE(bugprone-signed-char-misuse): a number, not a character.
      for (std::size_t i = 0; i < part; ++i) wide[i] = from[i];
      for (std::size_t limb = 0; limb < limbs; ++limb) {
        const std::int16_t* factors = &cut[limb * columns + begin];
        std::int32_t sum = 0;
        for (std::size_t i = 0; i < part; ++i)
          sum += static_cast<std::int32_t>(wide[i]) * factors[i];
        sums[limb] += sum;
      }
    }
    SignedWide total = 0;  // At most 2^32 columns keep the sum below 2^(32 + 7 + 65).
    for (std::size_t limb = limbs; limb-- > 0;) total = total * (1 << limb_bits) + sums[limb];
    product[row] = reduce_signed(total);
  }
  return product;
}

// matrix * vector for the int32 elements of a product. No value if an element exceeds `most` in
// magnitude. Adding `most` makes the elements unsigned, so that two limbs of 31 bits are enough.
std::optional<std::vector<std::uint64_t>> multiply(std::span<const std::int32_t> matrix,
                                                   std::uint32_t rows,
                                                   const std::vector<std::uint64_t>& vector,
                                                   std::uint64_t most) {
  constexpr int limb_bits = 31;
  constexpr std::uint64_t mask = (std::uint64_t{1} << limb_bits) - 1;
  // A power of two above `most`, so that an element out of range shows in a bit; past 2^31 every
  // int32 is in range.
  most = std::bit_ceil(std::min(most + 1, std::uint64_t{1} << 31));
  const auto offset = static_cast<std::uint32_t>(most);
  const auto outside = static_cast<std::uint32_t>(~(2 * most - 1));
  const std::size_t columns = vector.size();
  // The number of products of an element (below 2 most) and a limb whose sum stays below 2^64.
  const std::size_t part_max = std::size_t{1} << (64 - limb_bits - std::countr_zero(2 * most));
  std::vector<std::uint32_t> low(columns), high(columns);
  Wide moved = 0;  // The amount that the offset adds to every row.
  for (std::size_t i = 0; i < columns; ++i) {
    low[i] = static_cast<std::uint32_t>(vector[i] & mask);
    high[i] = static_cast<std::uint32_t>(vector[i] >> limb_bits);
    moved += vector[i];
  }
  moved = static_cast<Wide>(reduce(moved)) * offset;
  const std::uint64_t add = prime - reduce(moved);
  std::vector<std::uint64_t> product(rows);
  for (std::uint32_t row = 0; row < rows; ++row) {
    Wide total = 0;
    std::uint32_t seen = 0;
    for (std::size_t begin = 0; begin < columns; begin += part_max) {
      const std::size_t end = std::min(begin + part_max, columns);
      const std::int32_t* from = matrix.data() + row * columns;
      std::uint64_t sum_low = 0, sum_high = 0;
      for (std::size_t i = begin; i < end; ++i) {
        const std::uint32_t value = static_cast<std::uint32_t>(from[i]) + offset;
        seen |= value;
        sum_low += std::uint64_t{value} * low[i];
        sum_high += std::uint64_t{value} * high[i];
      }
      total += sum_low + (static_cast<Wide>(sum_high) << limb_bits);
    }
    if ((seen & outside) != 0) return std::nullopt;
    product[row] = reduce(total + add);
  }
  return product;
}

}  // namespace

bool freivalds_accepts(const MatrixProduct& product, std::uint64_t seed) {
  const auto holds = [](std::size_t size, std::uint32_t rows, std::uint32_t columns) {
    return size == static_cast<std::uint64_t>(rows) * columns;
  };
  if (!holds(product.a.size(), product.m, product.k) ||
      !holds(product.b.size(), product.k, product.n) ||
      !holds(product.c.size(), product.m, product.n)) {
    return false;
  }
  Residues residues(seed);
  std::vector<std::uint64_t> r(product.n);
  for (std::uint64_t& value : r) value = residues.next();
  // No sum of k products of int8 is greater than k 2^14.
  const auto left = multiply(product.c, product.m, r, std::uint64_t{product.k} << 14);
  return left && *left == multiply(product.a, product.m, multiply(product.b, product.k, r));
}

}  // namespace weft::proof
