// What the same work has taken before: the canaries of earlier jobs, by the work that they
// measured, so that the price of a job is known before it runs.
//
// A price needs a measurement by a worker that prices a job alone (an invited one, or the
// operator's device), or by three established workers; it is their median, the lower of two. A
// worker counts once, with its latest. Pure. Bounds: measurements_max for a work, works_max in all,
// of which the one that was measured longest ago is forgotten first.
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

  // Those that are forgotten for it. A pace that is not finite and positive is left out.
  std::vector<Pace> add(const Pace& pace);
  // Reference seconds a workgroup of those that count; none where too little is known.
  [[nodiscard]] std::vector<double> paces_of(const Hash& work) const;
  // Their median.
  [[nodiscard]] std::optional<double> pace_of(const Hash& work) const;
  [[nodiscard]] std::size_t works() const { return works_.size(); }

 private:
  struct Work {
    std::vector<Pace> paces;  // Oldest first.
    std::pair<UnixMillis, Hash> latest;
  };
  std::map<Hash, Work> works_;
  std::set<std::pair<UnixMillis, Hash>> by_age_;
};

// The lower of two in the middle: the client pays. Not empty.
[[nodiscard]] double lower_median(std::vector<double> values);

}  // namespace weft::scheduler
