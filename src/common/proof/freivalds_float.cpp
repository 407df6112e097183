#include "common/proof/freivalds_float.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "common/proof/random.h"

namespace weft::proof {
namespace {

constexpr double deviations_max = 9;

// Standard normal numbers (G. Box and M. Muller, 1958).
class Normals {
 public:
  explicit Normals(std::uint64_t seed) : words_(seed) {}
  double next() {
    const double u = (static_cast<double>(words_.next() >> 11) + 0.5) * 0x1p-53;
    const double v = static_cast<double>(words_.next() >> 11) * 0x1p-53;
    return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
  }

 private:
  RandomWords words_;
};

template <class Vector>
double dot(const float* row, const Vector& vector) {
  // Four sums that do not depend on each other.
  double sums[4] = {};
  std::size_t i = 0;
  for (; i + 4 <= vector.size(); i += 4) {
    for (std::size_t lane = 0; lane < 4; ++lane)
      sums[lane] += static_cast<double>(row[i + lane]) * static_cast<double>(vector[i + lane]);
  }
  for (; i < vector.size(); ++i)
    sums[0] += static_cast<double>(row[i]) * static_cast<double>(vector[i]);
  return sums[0] + sums[1] + (sums[2] + sums[3]);
}

std::vector<double> multiply(std::span<const float> matrix, std::uint32_t rows,
                             const std::vector<double>& vector) {
  std::vector<double> product(rows);
  for (std::uint32_t row = 0; row < rows; ++row)
    product[row] = dot(matrix.data() + std::size_t{row} * vector.size(), vector);
  return product;
}

double norm(std::span<const float> values) { return std::sqrt(dot(values.data(), values)); }

}  // namespace

bool freivalds_accepts(const FloatProduct& product, std::uint64_t seed, const Rounding& rounding,
                       std::uint32_t rounds) {
  const auto [m, n, k, a, b, c] = product;
  const auto holds = [](std::size_t size, std::uint32_t rows, std::uint32_t columns) {
    return size == static_cast<std::uint64_t>(rows) * columns;
  };
  if (!holds(a.size(), m, k) || !holds(b.size(), k, n) || !holds(c.size(), m, n) ||
      k * rounding.unit >= 1)
    return false;

  const double steps = k * rounding.unit;
  const double b_norm = norm(b);
  // The rounding error of the check itself in double precision: two sums in sequence.
  const double own = (static_cast<double>(k) + n) * 0x1p-52;
  std::vector<double> bounds(m);
  for (std::uint32_t row = 0; row < m; ++row) {
    const double a_norm = norm(a.subspan(std::size_t{row} * k, k));
    bounds[row] = (steps / (1 - steps) + own) * a_norm * b_norm +
                  (rounding.output_unit + own) * norm(c.subspan(std::size_t{row} * n, n)) +
                  k * 0x1p-126 * std::sqrt(static_cast<double>(n));
    if (!std::isfinite(bounds[row])) return false;
  }
  Normals normals(seed);
  std::vector<double> r(n);
  for (std::uint32_t round = 0; round < rounds; ++round) {
    for (double& value : r) value = normals.next();
    const std::vector<double> left = multiply(c, m, r);
    const std::vector<double> right = multiply(a, m, multiply(b, k, r));
    for (std::uint32_t row = 0; row < m; ++row) {
      if (!(std::abs(left[row] - right[row]) <= deviations_max * bounds[row])) return false;
    }
  }
  return true;
}

}  // namespace weft::proof
