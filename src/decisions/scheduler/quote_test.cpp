// Tests that a quote is the formula within its bounds, and that the terms that are agreed before a
// job runs bound its price: it is never over max_price, and is the quoted price if the canary
// confirms it.
#include "decisions/scheduler/quote.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "decisions/scheduler/test_network.h"

namespace weft::scheduler {
namespace {

TEST(Quote, IsTheFormula) {
  const Quote idle = quote({}, {.waiting_seconds = 0, .fitting_rate = 4, .fleet_rate = 4}, 1);
  EXPECT_DOUBLE_EQ(idle.demand, 0);
  EXPECT_DOUBLE_EQ(idle.capability, 0);
  EXPECT_EQ(idle.per_unit, 1'000'000);

  const Quote rare = quote({}, {.waiting_seconds = 0, .fitting_rate = 1, .fleet_rate = 4}, 1);
  EXPECT_DOUBLE_EQ(rare.capability, 0.75);
  EXPECT_EQ(rare.per_unit, 1'750'000);

  const Quote busy = quote({.per_unit = 2'000'000},
                           {.waiting_seconds = 240, .fitting_rate = 4, .fleet_rate = 4}, 1.2);
  EXPECT_DOUBLE_EQ(busy.demand, 0.5);
  EXPECT_EQ(busy.per_unit, 3'600'000);
}

TEST(Quote, IsTheBaseWhereNoTrustedWorkerIs) {
  EXPECT_EQ(quote({}, {.waiting_seconds = 1e9, .fitting_rate = 0, .fleet_rate = 0}, 1).per_unit,
            1'000'000);
}

// Each factor of the formula at most doubles the price, for any input.
TEST(Quote, StaysWithinItsBounds) {
  std::mt19937_64 random(14);
  const auto wild = [&] {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    constexpr std::array values{0.0, -1.0, 1e-300, 1.0, 60.0, 1e12, 1e300, infinity};
    return values[random() % values.size()];
  };
  for (int i = 0; i < 10'000; ++i) {
    const Market market{.waiting_seconds = wild(), .fitting_rate = wild(), .fleet_rate = wild()};
    const Quote made = quote({}, market, wild());
    ASSERT_GE(made.per_unit, 500'000) << i;
    ASSERT_LE(made.per_unit, 8'000'000) << i;
  }
}

TEST(Agreed, WhatIsChargedIsWhatWasQuotedAndNeverOverTheMost) {
  std::mt19937_64 random(15);
  const auto amount = [&] { return 1 + static_cast<MicroCredits>(random() % 1'000'000); };
  int quoted = 0;
  int ended = 0;
  int cheaper = 0;
  for (int i = 0; i < 100'000; ++i) {
    PriceTerms terms{.budget = amount(), .quoted = 0, .max = 0};
    if (random() % 4 != 0) terms.quoted = amount();
    if (random() % 2 != 0) terms.max = amount();
    const Estimate measured{.reference_seconds_per_workgroup = 1, .units = 1, .price = amount()};
    const Estimate made = agreed(measured, terms);
    const bool runs = made.price <= most_of(terms);
    if (!runs) {
      ++ended;
      continue;
    }
    ASSERT_LE(made.price, terms.budget) << i;
    if (terms.max > 0) {
      ASSERT_LE(made.price, terms.max) << i;
    }
    if (terms.quoted == 0) {
      ASSERT_EQ(made.price, measured.price) << i;
      continue;
    }
    ASSERT_LE(made.price, terms.quoted) << i;
    if (made.price == terms.quoted) {
      ++quoted;
    } else {
      // The canary shows a pace far from the quoted one, so the job costs what the canary shows.
      ASSERT_EQ(made.price, measured.price) << i;
      ASSERT_LT(static_cast<double>(made.price) * quote_slack, static_cast<double>(terms.quoted));
      ++cheaper;
    }
  }
  EXPECT_GT(quoted, 1000);
  EXPECT_GT(cheaper, 1000);
  EXPECT_GT(ended, 1000);
}

TEST(Agreed, SaysInASentenceWhichBoundAJobIsOver) {
  const Estimate made{.reference_seconds_per_workgroup = 1, .units = 3, .price = 3'000'000};
  EXPECT_EQ(over_the_most(made, {.budget = 2'000'000, .quoted = 0, .max = 0}),
            "The job is estimated at 3.000000 credits (3.000000 compute units); its budget is "
            "2.000000: raise \"budget\" in the manifest.");
  EXPECT_EQ(over_the_most(made, {.budget = 9'000'000, .quoted = 0, .max = 2'500'000}),
            "The job is estimated at 3.000000 credits (3.000000 compute units); its max_price is "
            "2.500000: allow more with weft submit --max-price CREDITS.");
  EXPECT_EQ(over_the_most(made, {.budget = 9'000'000, .quoted = 1'000'000, .max = 1'500'000}),
            "The job is estimated at 3.000000 credits (3.000000 compute units); its quote is "
            "1.000000, which was made of cheaper runs of the same work: ask for another quote "
            "(weft quote).");
}

// The price that the scheduler charges for a job whose canary takes `seconds`; 0 if the job ended.
MicroCredits charged(const Job& job, double seconds, std::string* reason = nullptr) {
  Scheduler scheduler;
  EXPECT_TRUE(scheduler.add_worker(native_worker(1), at(0)).has_value());
  EXPECT_TRUE(scheduler.add_job(job, at(0)).has_value());
  const auto leases = all<Lease>(scheduler.decide(at(0)));
  EXPECT_EQ(leases.size(), 1U);
  EXPECT_TRUE(
      scheduler
          .result({.task = {job.id, 0}, .worker = key_of(1), .attempt = 1, .gpu_seconds = seconds},
                  at(seconds))
          .has_value());
  const auto decisions = scheduler.decide(at(seconds));
  if (const auto failed = all<JobFailed>(decisions); !failed.empty()) {
    if (reason != nullptr) *reason = failed[0].reason.message;
    return 0;
  }
  const auto estimated = all<Estimated>(decisions);
  EXPECT_EQ(estimated.size(), 1U);
  return estimated.empty() ? 0 : estimated[0].estimate.price;
}

TEST(Agreed, APriceThatWasQuotedIsChargedHoweverTheCanaryWavers) {
  Job job = small_job(1, 4);
  job.per_unit = 3'000'000;
  EXPECT_EQ(charged(job, 1), 12'000'000) << "4 tasks of a second at three credits";

  job.price_quoted = 12'000'000;
  EXPECT_EQ(charged(job, 1.3), 12'000'000);
  EXPECT_EQ(charged(job, 0.8), 12'000'000);
  EXPECT_EQ(charged(job, 0.5), 6'000'000) << "it was cheaper by more than a third";
  std::string reason;
  EXPECT_EQ(charged(job, 1.6, &reason), 0);
  EXPECT_EQ(reason,
            "The job is estimated at 19.200000 credits (6.400000 compute units); its quote is "
            "12.000000, which was made of cheaper runs of the same work: ask for another quote "
            "(weft quote).");
}

// A slow canary among several does not move the price. The first canary of a new worker is often
// slow.
TEST(Agreed, AJobCostsTheMedianOfItsCanaryAndThoseBefore) {
  Job job = small_job(1, 4);
  job.paces_known = {0.1};
  EXPECT_EQ(charged(job, 20), 4'000'000) << "the lower of two";
  EXPECT_EQ(charged(job, 0.5), 2'000'000);
  job.paces_known = {0.1, 0.12, 0.11};
  EXPECT_EQ(charged(job, 20), 4'400'000);
  EXPECT_EQ(charged(job, 0.001), 4'000'000);
}

// The job's client named no max_price, and a busy machine ran its canary.
TEST(Agreed, AJobWhoseClientNamedNoMaxPriceCostsTheMostOfItAndGoesOn) {
  Job job = small_job(1, 4);
  const PriceTerms terms = default_terms(job.budget, 4'000'000, 4);
  EXPECT_EQ(terms,
            (PriceTerms{.budget = job.budget, .quoted = 0, .max = 6'000'000, .capped = true}));
  job.price_max = terms.max;
  EXPECT_EQ(charged(job, 9), 0) << "without it the canary ends the job";

  job.price_capped = true;

  EXPECT_EQ(charged(job, 1.4), 5'600'000);
  EXPECT_EQ(charged(job, 9), 6'000'000) << "what was shown, and no more";
}

TEST(Agreed, TheMostOfAJobWithoutAMaxPriceLiesBetweenWhatIsKnownAndItsBudget) {
  for (const MicroCredits share : {100, 101, 999'999}) {
    const MicroCredits known = 7 * share;
    const PriceTerms terms = default_terms(8 * share + 3, known, 7);
    EXPECT_TRUE(terms.capped);
    EXPECT_EQ(terms.max % 7, 0);
    EXPECT_GE(terms.max, known);
    EXPECT_LE(terms.max, terms.budget);
  }
  EXPECT_FALSE(default_terms(100, 0, 7).capped) << "nothing is known of its price";
  EXPECT_FALSE(default_terms(100, 101, 1).capped) << "workers do not work below what is known";
}

TEST(Agreed, AJobOverItsMaxPriceEnds) {
  Job job = small_job(1, 4);
  job.price_max = 5'000'000;
  EXPECT_EQ(charged(job, 1), 4'000'000);
  std::string reason;
  EXPECT_EQ(charged(job, 1.5, &reason), 0);
  EXPECT_EQ(reason,
            "The job is estimated at 6.000000 credits (6.000000 compute units); its max_price is "
            "5.000000: allow more with weft submit --max-price CREDITS.");
}

}  // namespace
}  // namespace weft::scheduler
