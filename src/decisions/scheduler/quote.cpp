#include "decisions/scheduler/quote.h"

#include <algorithm>
#include <cmath>

#include "common/base/format.h"
#include "decisions/scheduler/seasons.h"

namespace weft::scheduler {
namespace {

double credits(MicroCredits amount) { return static_cast<double>(amount) / 1e6; }

}  // namespace

Quote quote(const Pricing& pricing, const Market& market, double season) {
  constexpr double half_backlog_seconds = 60;
  Quote made{.base = pricing.per_unit,
             .season = std::isfinite(season) ? std::clamp(season, season_min, season_max) : 1};
  // Demand and capability stay 0 without a trusted worker, because they are relative to the
  // capacity of trusted workers.
  if (market.fleet_rate > 0) {
    const double backlog = std::max(market.waiting_seconds, 0.0) / market.fleet_rate;
    made.demand = std::isfinite(backlog) ? backlog / (backlog + half_backlog_seconds) : 1;
    const double fitting = market.fitting_rate / market.fleet_rate;
    made.capability = std::isfinite(fitting) ? 1 - std::clamp(fitting, 0.0, 1.0) : 0;
  }
  const double per_unit = static_cast<double>(pricing.per_unit) * (1 + made.demand) *
                          (1 + made.capability) * made.season;
  made.per_unit = std::max<MicroCredits>(std::llround(std::min(per_unit, 1e15)), 1);
  return made;
}

MicroCredits default_max(MicroCredits price_known) {
  return static_cast<MicroCredits>(std::ceil(static_cast<double>(price_known) * quote_slack));
}

MicroCredits most_of(const PriceTerms& terms) {
  MicroCredits most = terms.budget;
  if (terms.max > 0) most = std::min(most, terms.max);
  if (terms.quoted > 0) most = std::min(most, terms.quoted);
  return most;
}

PriceTerms default_terms(MicroCredits budget, MicroCredits known, std::uint64_t shares) {
  PriceTerms terms{.budget = budget, .quoted = 0, .max = default_max(known)};
  if (known <= 0 || known > budget || shares == 0) return terms;
  // The maximum is rounded down to a multiple of the number of replicas, because a task's price
  // must be divisible by its replicas. `known` already is such a multiple.
  terms.max = std::min(terms.max, budget);
  terms.max -= terms.max % static_cast<MicroCredits>(shares);
  terms.capped = true;
  return terms;
}

Estimate agreed(const Estimate& measured, const PriceTerms& terms) {
  if (terms.capped && measured.price > most_of(terms)) {
    Estimate made = measured;
    made.price = most_of(terms);
    return made;
  }
  if (terms.quoted <= 0) return measured;
  const auto was = static_cast<double>(terms.quoted);
  const auto is = static_cast<double>(measured.price);
  if (is > was * quote_slack || is * quote_slack < was) return measured;
  Estimate made = measured;
  made.price = terms.quoted;
  return made;
}

std::string over_the_most(const Estimate& made, const PriceTerms& terms) {
  const std::string shown = weft::format(
      "The job is estimated at {:.6f} credits ({:.6f} compute "
      "units); its",
      credits(made.price), made.units);
  const MicroCredits most = most_of(terms);
  if (most == terms.budget)
    return weft::format("{} budget is {:.6f}: raise \"budget\" in the manifest.", shown,
                        credits(terms.budget));
  if (most == terms.quoted)
    return weft::format(
        "{} quote is {:.6f}, which was made of cheaper runs of the same work: ask "
        "for another quote (weft quote).",
        shown, credits(terms.quoted));
  return weft::format("{} max_price is {:.6f}: allow more with weft submit --max-price CREDITS.",
                      shown, credits(terms.max));
}

}  // namespace weft::scheduler
