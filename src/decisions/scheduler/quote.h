// What a compute unit costs at the moment of submission:
//
//   per unit = base * (1 + demand) * (1 + capability) * seasonal
//
//   base        set by the provider (Pricing::per_unit).
//   demand      backlog / (backlog + 60 s), backlog being the queued reference seconds over what
//   the workers do in a second:
//               0 for an empty queue, one half for a minute of work, 1 where no worker fits.
//   capability  rate / (1 + rate), the mean rate of the workers that fit, relative to the
//   reference: hard requirements that
//               only strong workers meet cost more.
//   seasonal    how busy this hour of the week has been, over the mean of the week; between 0.5 and
//   2, and 1 where little
//               is known.
//
// The quote is made before submission and travels with the job: what is asked later does not change
// it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/base/clock.h"
#include "decisions/scheduler/pricing.h"

namespace weft::scheduler {

// What there is to do and who can do it, among the workers that fit a job. See Scheduler::market().
struct Market {
  double queued_seconds = 0;  // At the reference rate.
  double seconds_per_second =
      0;  // What the connected workers that fit do together: the sum of their rates.
  std::size_t workers = 0;
};

struct Quote {
  MicroCredits per_unit = 0;
  double demand = 0;
  double capability = 0;
  double seasonal = 1;
};
[[nodiscard]] Quote quote(const Pricing& pricing, const Market& market, double seasonal);

// How busy each hour of the week is, learned as time goes by. UTC; the week begins on Thursday, as
// 1970 did. Not used by the coordinator yet: the seasonal factor of its quotes is 1 until prices
// are quoted and signed before submission.
class Seasons {
 public:
  static constexpr std::size_t hours = 168;

  // The share of the workers' slots that are busy, in [0, 1]; call it about once a minute.
  void observe(UnixMillis time, double busy);
  // Between 0.5 and 2; 1 before a day's worth of hours is known, and for an hour that is not.
  [[nodiscard]] double factor(UnixMillis time) const;

  // For the store: 168 doubles; negative where nothing is known.
  [[nodiscard]] std::vector<double> save() const { return {usual_.begin(), usual_.end()}; }
  // Anything but 168 finite numbers is left alone.
  void restore(std::span<const double> saved);

 private:
  [[nodiscard]] static std::int64_t hour_of(UnixMillis time) { return time / 3'600'000; }
  void fold();

  std::array<double, hours> usual_ = [] {
    std::array<double, hours> none{};
    none.fill(-1);
    return none;
  }();
  std::optional<std::int64_t> hour_;  // Being observed.
  double sum_ = 0;
  std::uint64_t count_ = 0;
};

}  // namespace weft::scheduler
