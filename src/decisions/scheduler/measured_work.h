// Paces that earlier jobs' canaries have measured, by the work that was measured, so that the price
// of a later job with equal work is known before it runs.
//
// A price needs a measurement by a worker that prices a job alone (an invited worker or the
// operator's device), or measurements by three established workers. The pace is the median; of two
// values, the lower one. Each worker counts once, with its latest measurement. Pure. Limits:
// measurements_max for one work, works_max works in all; the work that was measured longest ago is
// forgotten first.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "common/base/clock.h"
#include "common/base/ids.h"
#include "common/records/records.h"

namespace weft::scheduler {

using store::Pace;

class MeasuredWork {
 public:
  static constexpr std::size_t measurements_max = 7;
  static constexpr std::size_t works_max = 10'000;
  static constexpr std::size_t established_min = 3;

  // Adds a pace and returns the paces that were dropped to make room. Ignores a pace that is not
  // finite and positive.
  std::vector<Pace> add(const Pace& pace);
  // The paces that count for this work, in reference seconds a workgroup; empty if too few are
  // known.
  [[nodiscard]] std::vector<double> paces_of(const Hash& work) const;
  // The median of the paces that count for this work; no value if too few are known.
  [[nodiscard]] std::optional<double> pace_of(const Hash& work) const;
  [[nodiscard]] std::size_t works() const { return works_.size(); }

 private:
  struct Work {
    std::vector<Pace> paces;  // Paces, the oldest first.
    std::pair<UnixMillis, Hash> latest;
  };
  std::map<Hash, Work> works_;
  std::set<std::pair<UnixMillis, Hash>> by_age_;
};

// The median of `values`, which are not empty. Of two values in the middle it takes the lower one,
// in favour of the client, who pays.
[[nodiscard]] double lower_median(std::vector<double> values);

}  // namespace weft::scheduler
