// What a compute unit costs at the moment of submission:
//
//   per unit = base * (1 + demand) * (1 + capability) * season
//
//   base        set by the operator (Pricing::per_unit).
//   demand      b / (b + 60 s), b being the paid work that has waited for 10 s over what the
//               trusted workers do in a second: 0 for an empty queue, one half for a minute of
//               work.
//   capability  the share of the trusted workers' rates that the job cannot use: 0 for a job that
//               runs everywhere, near 1 for one that only rare workers can run.
//   season      how busy this hour of the week has been, over the mean of the week; between 0.5 and
//               2, and 1 where little is known.
//
// No number that a stranger claims enters: rates are those of invited and established workers (what
// the operator's own say, and what accepted work has shown), and waiting work counts as far as it
// was priced and is paid for with credits that were not granted.
//
// The quote is made before submission and travels with the job: what is asked later does not change
// it. `agreed` and `most_of` say what that means for the price that the canary shows.
#pragma once

#include <cstdint>
#include <string>

#include "common/base/clock.h"
#include "decisions/scheduler/pricing.h"

namespace weft::scheduler {

// What there is to do and which trusted workers can do it. See Scheduler::market().
struct Market {
  double waiting_seconds = 0;  // At the reference rate: paid work that has waited for 10 s.
  double fitting_rate = 0;     // What the trusted workers that fit the job do in a second,
  double fleet_rate = 0;       // and all trusted workers, whether they fit or not.
};

struct Quote {
  MicroCredits base = 0;
  double demand = 0;
  double capability = 0;
  double season = 1;
  MicroCredits per_unit = 0;

  friend bool operator==(const Quote&, const Quote&) = default;
};
// `season` is taken within its bounds.
[[nodiscard]] Quote quote(const Pricing& pricing, const Market& market, double season);

// What a job may cost, as its client and the coordinator agreed before it ran.
struct PriceTerms {
  MicroCredits budget = 0;
  MicroCredits quoted = 0;  // The price of the whole job in a quote that was given; 0: none.
  MicroCredits max = 0;     // max_price; 0: the budget alone bounds it.
  // The client named no max_price for work whose price was known: a slow canary does not end the
  // job, which costs the most that it may.
  bool capped = false;

  friend bool operator==(const PriceTerms&, const PriceTerms&) = default;
};

// How far a canary may be from what was measured before, either way, for the job to be the one that
// was quoted; and max_price over a quote, where the client says none.
inline constexpr double quote_slack = 1.5;

// max_price where a client says none: 1.5 times the price that was known at submission; 0 (the
// budget alone bounds the job) if none was.
[[nodiscard]] MicroCredits default_max(MicroCredits price_known);

// The terms of a job whose client named no max_price and showed no quote. `known`: what the work is
// known to cost, 0 if nothing is known. `shares`: its replicas of tasks, which cost the same each.
[[nodiscard]] PriceTerms default_terms(MicroCredits budget, MicroCredits known,
                                       std::uint64_t shares);

// The most that the job may cost.
[[nodiscard]] MicroCredits most_of(const PriceTerms& terms);

// What is charged where the canary shows `measured`: the quoted price, if it is within quote_slack
// of that; otherwise `measured`, which the client pays if it is less, and which ends the job if it
// is over most_of(), or costs that if the terms are capped.
[[nodiscard]] Estimate agreed(const Estimate& measured, const PriceTerms& terms);

// One sentence, for a job whose price is over most_of().
[[nodiscard]] std::string over_the_most(const Estimate& made, const PriceTerms& terms);

}  // namespace weft::scheduler
