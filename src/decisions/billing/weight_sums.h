// The evidence that workers' answers come from smaller weights than those of a model: for each
// worker and file the sum of the likelihood ratios of its fingerprints, as roots read them
// (common/proof/smaller_weights.h).
//
// Answers that a worker gave alone and answers of chains have sums of their own, because a member
// of a chain could otherwise raise the sum by which another member is convicted. Pure. Bounds:
// sums_max rows; beyond that the smallest sum is forgotten.
#pragma once

#include <compare>
#include <cstddef>
#include <map>
#include <span>
#include <vector>

#include "common/base/ids.h"
#include "common/records/records.h"

namespace weft::billing {

struct WeightSumKey {
  PublicKey worker;
  Hash file;            // SHA-256 of the model's file.
  bool shared = false;  // True for answers of several workers.
  friend auto operator<=>(const WeightSumKey&, const WeightSumKey&) = default;
};

class WeightSums {
 public:
  static constexpr std::size_t sums_max = 65536;
  using Rows = std::vector<store::Changed<store::WeightSum>>;

  explicit WeightSums(std::size_t most = sums_max) : most_(most) {}

  void restore(std::span<const store::WeightSum> rows);
  // The sum so far, which is at least 0.
  [[nodiscard]] double of(const WeightSumKey& key) const;
  // Sets a sum and adds the rows that the store must change to `rows`. Sums of 0 have no row.
  void set(const WeightSumKey& key, double sum, Rows& rows);
  [[nodiscard]] std::size_t size() const { return sums_.size(); }

 private:
  const std::size_t most_;
  std::map<WeightSumKey, double> sums_;
};

}  // namespace weft::billing
