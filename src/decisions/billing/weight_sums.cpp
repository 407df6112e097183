#include "decisions/billing/weight_sums.h"

#include <algorithm>
#include <cmath>

#include "common/proof/smaller_weights.h"

namespace weft::billing {

void WeightSums::restore(std::span<const store::WeightSum> rows) {
  for (const store::WeightSum& row : rows) {
    if (std::isfinite(row.sum) && row.sum > 0)
      sums_[{.worker = row.worker, .file = row.file, .shared = row.shared}] =
          std::min(row.sum, proof::ratio_least);
  }
}

double WeightSums::of(const WeightSumKey& key) const {
  const auto found = sums_.find(key);
  return found == sums_.end() ? 0 : found->second;
}

void WeightSums::set(const WeightSumKey& key, double sum, Rows& rows) {
  const auto row_of = [](const WeightSumKey& of, double value) {
    return store::WeightSum{
        .worker = of.worker, .file = of.file, .shared = of.shared, .sum = value};
  };
  const auto found = sums_.find(key);
  if (sum <= 0) {
    if (found == sums_.end()) return;
    sums_.erase(found);
    return rows.push_back({.row = row_of(key, 0), .change = store::Change::remove});
  }
  if (found == sums_.end() && sums_.size() >= most_) {
    const auto least =
        std::ranges::min_element(sums_, {}, [](const auto& entry) { return entry.second; });
    rows.push_back({.row = row_of(least->first, 0), .change = store::Change::remove});
    sums_.erase(least);
  }
  sums_[key] = sum;
  rows.push_back({.row = row_of(key, sum)});
}

}  // namespace weft::billing
