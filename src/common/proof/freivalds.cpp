#include "common/proof/freivalds.h"

#include <vector>

namespace weft::proof {
namespace {

constexpr std::uint64_t prime = (std::uint64_t{1} << 61) - 1;  // A Mersenne prime: reduction is a shift and an add.

// GCC and clang have 128-bit integers on every target we build; -Wpedantic knows only the standard's types.
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

// SplitMix64 (G. Steele et al., 2014), rejected above the prime so that every residue is as likely.
class Residues {
 public:
  explicit Residues(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    for (;;) {
      std::uint64_t z = state_ += 0x9e3779b97f4a7c15ULL;
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
      z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
      const std::uint64_t value = (z ^ (z >> 31)) >> 3;
      if (value < prime) return value;
    }
  }

 private:
  std::uint64_t state_;
};

// matrix[rows][columns] * vector. |element| < 2^31 and vector[j] < 2^61, so that a row of up to 2^32 columns stays
// below 2^124.
template <class T>
std::vector<std::uint64_t> multiply(std::span<const T> matrix, std::uint32_t rows, const std::vector<std::uint64_t>& vector) {
  std::vector<std::uint64_t> product(rows);
  const T* at = matrix.data();
  for (std::uint32_t row = 0; row < rows; ++row) {
    SignedWide sum = 0;
    for (const std::uint64_t factor : vector) sum += static_cast<SignedWide>(*at++) * static_cast<std::int64_t>(factor);
    product[row] = reduce_signed(sum);
  }
  return product;
}

}  // namespace

bool freivalds_accepts(const MatrixProduct& product, std::uint64_t seed) {
  const auto holds = [](std::size_t size, std::uint32_t rows, std::uint32_t columns) { return size == static_cast<std::uint64_t>(rows) * columns; };
  if (!holds(product.a.size(), product.m, product.k) || !holds(product.b.size(), product.k, product.n) ||
      !holds(product.c.size(), product.m, product.n)) {
    return false;
  }
  Residues residues(seed);
  std::vector<std::uint64_t> r(product.n);
  for (std::uint64_t& value : r) value = residues.next();
  const std::vector<std::uint64_t> left = multiply(product.c, product.m, r);
  const std::vector<std::uint64_t> right = multiply(product.a, product.m, multiply(product.b, product.k, r));
  return left == right;
}

}  // namespace weft::proof
