// The price of a compute unit at the moment of submission:
//
//   per unit = base * (1 + demand) * (1 + capability) * season
//
// - base: set by the operator (Pricing::per_unit).
// - demand: b / (b + 60 s), where b is the paid work that has waited for 10 s over the work that
//   the trusted workers do in a second. It is 0 for an empty queue, and one half for a minute of
//   work.
// - capability: the share of the trusted workers' rates that the job cannot use. It is 0 for a job
//   that runs everywhere, and near 1 for a job that only rare workers can run.
// - season: how busy this hour of the week has been, over the mean of the week. It is between 0.5
//   and 2, and 1 if little is known.
//
// No number that a stranger claims enters the formula. Rates are those of invited workers, which
// are claimed by the operator's own workers, and of established workers, which accepted work has
// shown. Waiting work counts only if it was priced and is paid for with credits that were not
// granted.
//
// The quote is made before submission and travels with the job; later quotes do not change it.
// agreed() and most_of() compute its effect on the price that the canary shows.
#pragma once

#include <cstdint>
#include <string>

#include "common/base/clock.h"
#include "decisions/scheduler/pricing.h"

namespace weft::scheduler {

// The work that waits, and the trusted workers that can do it. See Scheduler::market().
struct Market {
  double waiting_seconds = 0;  // Paid work that has waited for 10 s, in reference seconds.
  double fitting_rate = 0;     // The work per second of trusted workers that fit the job.
  double fleet_rate = 0;       // The work per second of all trusted workers.
};

struct Quote {
  MicroCredits base = 0;
  double demand = 0;
  double capability = 0;
  double season = 1;
  MicroCredits per_unit = 0;

  friend bool operator==(const Quote&, const Quote&) = default;
};
// `season` is clamped to its bounds.
[[nodiscard]] Quote quote(const Pricing& pricing, const Market& market, double season);

// The limits of a job's price, which its client and the coordinator agreed before it ran.
struct PriceTerms {
  MicroCredits budget = 0;
  MicroCredits quoted = 0;  // The price of the whole job in the given quote; 0: no quote.
  MicroCredits max = 0;     // max_price; 0: only the budget bounds the price.
  // True if the client named no max_price for work whose price was known. A slow canary does not
  // end such a job: the job costs at most most_of().
  bool capped = false;

  friend bool operator==(const PriceTerms&, const PriceTerms&) = default;
};

// The quoted price holds if the canary's price differs from it by at most this factor, up or down.
// Also the ratio of max_price to the known price, if the client names no max_price.
inline constexpr double quote_slack = 1.5;

// max_price for a client that names none: 1.5 times the price that was known at submission; 0 if no
// price was known, so that only the budget bounds the job.
[[nodiscard]] MicroCredits default_max(MicroCredits price_known);

// Returns the terms of a job whose client named no max_price and showed no quote. `known` is the
// known price of the work, 0 if no price is known. `shares` is the number of replicas of all tasks,
// which have one price.
[[nodiscard]] PriceTerms default_terms(MicroCredits budget, MicroCredits known,
                                       std::uint64_t shares);

// The most that the job may cost.
[[nodiscard]] MicroCredits most_of(const PriceTerms& terms);

// Returns the charge if the canary shows the price `measured`: the quoted price if that is within
// quote_slack of `measured`, otherwise `measured`. A price over most_of() ends the job, or is
// reduced to most_of() if the terms are capped.
[[nodiscard]] Estimate agreed(const Estimate& measured, const PriceTerms& terms);

// Returns one sentence that says that a job's price is over most_of().
[[nodiscard]] std::string over_the_most(const Estimate& made, const PriceTerms& terms);

}  // namespace weft::scheduler
