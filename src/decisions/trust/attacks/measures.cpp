#include "decisions/trust/attacks/measures.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "common/base/format.h"
#include "decisions/trust/attacks/arena.h"
#include "decisions/trust/attacks/quotes.h"

namespace weft::trust::attacks {
namespace {

std::uint32_t scaled(double tasks, const TableOptions& options) {
  return static_cast<std::uint32_t>(std::max(tasks * options.scale, 2000.0));
}

// Newcomers, any number of them, that are wrong in all slices.
Row wrong_in_all_slices(const TableOptions& options) {
  std::uint64_t tasks = 0;
  std::uint64_t wrong = 0;
  for (const char* name : {"zeros", "copying", "sybils", "sybils-one-prefix", "mixture", "sale"}) {
    const auto* strategy = find_strategy(name);
    const Outcome outcome = play(standard_setup(options.seed, scaled(500'000, options)), *strategy);
    tasks += outcome.tasks;
    wrong += outcome.wrong_all;
  }
  const double share = static_cast<double>(wrong) / static_cast<double>(tasks);
  return {.measure = "tasks wrong in all slices, accepted",
          .goal = "<= 1e-6 of 3 million",
          .measured = weft::format("{} of {}", wrong, tasks),
          .how = "zeros, copying, sybils, one prefix, mixture, sale",
          .kept = share <= promises::wrong_all_share_max};
}

// The corrected share of tasks and the cost of a plan depend on how often the plan is found, and a
// run with few findings tells little: an attacker that is wrong in one slice of 64 in 3 % of the
// costly tasks is found 0.6 times in 40,000 tasks. Plans are therefore played until this many
// findings are expected. A run of a smaller scale leaves out the costs of plans with too few
// findings.
constexpr double findings_wanted = 30;

// The probability that a sample of one part of 32 finds the plan in one task.
double found_in_a_task(const Plan& plan) {
  return plan.share * plan.task_share * (plan.target == JobClass::costly ? costly_share : 1.0) *
         std::max(plan.slices / 64.0, 1 / 32.0);
}

Row any_wrong(const TableOptions& options) {
  double worst = 0;
  std::string by;
  for (const char* name : {"one-slice", "one-value", "slow-drip", "sleepers", "targeted", "rich",
                           "laundering", "own-vendor", "one-strike"}) {
    const auto* strategy = find_strategy(name);
    const double tasks = std::max(400'000.0, findings_wanted / found_in_a_task(strategy->plan()));
    const Outcome outcome = play(standard_setup(options.seed, scaled(tasks, options)), *strategy);
    if (outcome.uncorrected_share() < worst) continue;
    worst = outcome.uncorrected_share();
    by = name;
  }
  return {.measure = "any wrong task, 30 % of established work dishonest, not corrected in 24 h",
          .goal = "<= 1e-4",
          .measured = weft::format("{:.1e}", worst),
          .how = weft::format("worst of nine strategies: {}", by),
          .kept = worst <= promises::wrong_share_max};
}

Row cost_of_a_wrong_task(const TableOptions& options) {
  double least = std::numeric_limits<double>::infinity();
  std::string by;
  int played = 0;
  int left_out = 0;
  for (const double start : {0.5, 0.9, 0.999}) {
    for (const std::uint32_t slices : {1U, 4U, 16U, 64U}) {
      for (const double share : {0.03, 1.0}) {
        for (const JobClass target : {JobClass::all, JobClass::costly}) {
          Plan plan;
          plan.start = start;
          plan.slices = slices;
          plan.task_share = share;
          plan.target = target;
          const double found = found_in_a_task(plan);
          const double tasks = std::max(40'000.0, findings_wanted / found) * options.scale;
          if (tasks * found < findings_min) {
            ++left_out;
            continue;
          }
          ++played;
          const Outcome outcome =
              play(standard_setup(options.seed, static_cast<std::uint32_t>(std::lround(tasks))),
                   find_strategy("zeros"), plan);
          if (outcome.wrong < 10 || outcome.cost() > least) continue;
          least = outcome.cost();
          by = weft::format("standing {}, {} of 64 slices, {} of the tasks{}", start, slices, share,
                            target == JobClass::costly ? ", costly jobs only" : "");
        }
      }
    }
  }
  return {.measure = "cost of one accepted wrong task to the attackers",
          .goal = ">= 2 prices",
          .measured = weft::format("{:.2f}", least),
          .how = weft::format("least of {} plans{}: {}", played,
                              left_out == 0 ? ""
                                            : weft::format(" ({} left out: too few tasks for {} "
                                                           "findings)",
                                                           left_out, findings_min),
                              by),
          .kept = least >= promises::cost_min};
}

Row honest_convicted(const TableOptions& options) {
  std::uint64_t tasks = 0;
  std::uint64_t convicted = 0;
  double slashed = 0;
  for (const char* name :
       {"", "slander", "bait", "hidden-bait", "laundering", "invented-steps", "mixture"}) {
    Scene setup = standard_setup(options.seed, scaled(200'000, options));
    setup.crashing = 0.2;
    setup.slow = 0.1;
    setup.vendors = 3;
    const auto* strategy = find_strategy(name);
    const Outcome outcome = strategy == nullptr ? play(setup, nullptr, {}) : play(setup, *strategy);
    tasks += outcome.tasks;
    convicted += outcome.honest_convicted;
    slashed += outcome.honest_slashed;
  }
  return {.measure = "honest workers convicted or slashed",
          .goal = "0 in 1,000,000 tasks",
          .measured =
              weft::format("{} convicted, {:.1f} prices slashed in {}", convicted, slashed, tasks),
          .how =
              "crashing, slow, three vendors; slander, bait, hidden bait, laundering, "
              "invented steps, mixture",
          .kept = convicted == 0 && slashed == 0};
}

Row jobs_ended(const TableOptions& options) {
  std::uint32_t jobs = 0;
  std::uint32_t failed = 0;
  std::uint64_t undecided = 0;
  for (const Entry& strategy : strategies()) {
    Scene setup = standard_setup(options.seed, scaled(20'000, options));
    setup.job_tasks = 100;
    const Outcome outcome = play(setup, strategy);
    jobs += outcome.jobs + outcome.jobs_failed;
    failed += outcome.jobs_failed;
    undecided += outcome.undecided;
  }
  return {.measure = "honest jobs ended by strangers",
          .goal = "0",
          .measured = weft::format("{} of {}; {} tasks undecided", failed, jobs, undecided),
          .how = "every strategy",
          .kept = failed == 0 && undecided == 0};
}

Row slowdown(const TableOptions& options) {
  const Scene setup = standard_setup(options.seed, scaled(40'000, options));
  const double alone = play(setup, nullptr, {}).seconds;
  double worst = 0;
  std::string by;
  for (const char* name : {"silence", "sybils", "canary-killers", "exhaustion"}) {
    const double factor = play(setup, *find_strategy(name)).seconds / alone;
    if (factor < worst) continue;
    worst = factor;
    by = name;
  }
  return {.measure = "honest jobs slowed by 1,000 hoarding wallets",
          .goal = "<= 1.3x",
          .measured = weft::format("{:.3f}x", worst),
          .how = weft::format("worst of four strategies: {}", by),
          .kept = worst <= promises::slowdown_max};
}

Row price_paid(const TableOptions& options) {
  const Scene setup = standard_setup(options.seed, scaled(20'000, options));
  const double alone = play(setup, nullptr, {}).price;
  double worst = 0;
  for (const char* name : {"price-pumps", "mixture"})
    worst = std::max(worst, play(setup, *find_strategy(name)).price / alone);
  // Workers with standing can say what they like of their seconds too.
  Plan plan;
  worst = std::max(worst, play(setup, find_strategy("price-pumps"), plan).price / alone);
  return {
      .measure = "price paid beside the honest-only run",
      .goal = "<= 1.25x",
      .measured = weft::format("{:.3f}x", worst),
      .how =
          "1,000 fresh wallets, and 30 % of established ones, that claim 1,000 times their seconds",
      .kept = worst <= promises::price_max};
}

Row quote_beside_sybils(const TableOptions& options) {
  double worst = 1;
  for (std::uint64_t i = 0; i < 8; ++i)
    worst = std::max(worst, quote_moved({.seed = options.seed + i}));
  return {.measure = "a quote beside 1,000 fresh workers and 1,000 fresh clients",
          .goal = "moved by <= 10 %",
          .measured = weft::format("{:.1f} %", (worst - 1) * 100),
          .how =
              "wild claims, slots and floors; waiting work of granted credits, and of a tenth of "
              "a credit each; loads from idle to ten minutes",
          .kept = worst <= promises::quote_moved_max};
}

Row extra_work(const TableOptions& options) {
  const Outcome outcome = play(standard_setup(options.seed, scaled(100'000, options)), nullptr, {});
  Scene fresh = standard_setup(options.seed, scaled(100'000, options));
  fresh.start = 0;
  fresh.newcomers = fresh.workers;
  fresh.workers = 0;
  fresh.stake = 0;
  fresh.replicas = 1;
  const Outcome cold = play(fresh, nullptr, {});
  return {
      .measure = "extra work, honest network, tasks of 64 slices",
      .goal = "<= 5 % after 10,000 tasks",
      .measured =
          weft::format("{:.2f} %; newcomers only: {:.2f} % cold, {:.2f} % then",
                       outcome.extra_warm * 100, cold.extra_cold * 100, cold.extra_warm * 100),
      .how = "40 established workers with a stake; 40 newcomers",
      .kept = outcome.extra_warm <= promises::extra_max && cold.extra_warm <= promises::extra_max};
}

// A verifier that takes half a minute for each result of a new wallet.
Row newcomers_wait(const TableOptions& options) {
  double worst = 0;
  std::string by;
  for (const char* name : {"", "exhaustion", "sybils"}) {
    Scene setup = standard_setup(options.seed, scaled(8'000, options));
    setup.newcomers = 40;
    setup.verifier_rate = 2;
    const auto* strategy = find_strategy(name);
    const Outcome outcome = strategy == nullptr ? play(setup, nullptr, {}) : play(setup, *strategy);
    if (outcome.newcomer_lag < worst) continue;
    worst = outcome.newcomer_lag;
    by = strategy == nullptr ? "honest" : name;
  }
  return {.measure = "a newcomer's result waits for its check, slow verifier",
          .goal = "<= 600 s",
          .measured = weft::format("{:.0f} s", worst),
          .how = weft::format("40 honest newcomers; alone, exhaustion, sybils: {}", by),
          .kept = worst <= promises::sample_wait_max};
}

constexpr std::array every_measure{
    Measure{"wrong-all", wrong_in_all_slices},
    Measure{"wrong-any", any_wrong},
    Measure{"cost", cost_of_a_wrong_task},
    Measure{"honest", honest_convicted},
    Measure{"ended", jobs_ended},
    Measure{"slowed", slowdown},
    Measure{"price", price_paid},
    Measure{"quote", quote_beside_sybils},
    Measure{"extra", extra_work},
    Measure{"late", newcomers_wait},
};

}  // namespace

Scene standard_setup(std::uint64_t seed, std::uint32_t tasks) {
  Scene setup;
  setup.seed = seed;
  setup.tasks = tasks;
  return setup;
}

std::span<const Measure> measures() { return every_measure; }

}  // namespace weft::trust::attacks
