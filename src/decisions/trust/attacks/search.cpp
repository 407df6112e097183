#include "decisions/trust/attacks/search.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <mutex>
#include <thread>

#include "common/base/format.h"
#include "decisions/trust/attacks/arena.h"
#include "decisions/trust/attacks/measures.h"

namespace weft::trust::attacks {
namespace {

constexpr std::array<double, 8> task_shares{1e-3, 3e-3, 0.01, 0.03, 0.1, 0.3, 0.6, 1};
constexpr std::array<std::uint32_t, 7> slices{1, 2, 4, 8, 16, 32, 64};
constexpr std::array<double, 6> starts{0, 0.3, 0.5, 0.9, 0.99, 0.999};
// Fifteen wallets beside forty established workers that earn standing do 27 % of the established
// work; larger crowds do more than the promises allow for, and can only break the others.
constexpr std::array<std::uint32_t, 4> crowds{5, 15, 50, 100};
constexpr std::array<double, 4> stakes{0, 200, 1000, 10'000};
constexpr std::array<double, 5> exits{0, 0.02, 0.1, 0.3, 1};
constexpr std::array<double, 3> lengths{0.5, 2, 20};
constexpr std::array<std::string_view, 8> played{
    "zeros", "sleepers", "targeted", "exit", "one-strike", "laundering", "one-value", "exhaustion"};

constexpr double slices_of_a_task = 64;

template <class T, std::size_t n>
const T& pick(const std::array<T, n>& from, Random& random) {
  return from[random() % n];
}

// Changes one number of the plan or of the jobs.
void vary(Candidate& candidate, std::uint64_t which, Random& random) {
  Plan& plan = candidate.plan;
  switch (which % 10) {
    case 0:
      plan.task_share = pick(task_shares, random);
      break;
    case 1:
      plan.slices = pick(slices, random);
      break;
    case 2:
      plan.start = pick(starts, random);
      if (plan.start > 0) {
        plan.wallets = 0;
      } else if (plan.wallets == 0) {
        plan.wallets = pick(crowds, random);
      }
      break;
    case 3:
      plan.wallets = plan.start > 0 ? 0 : pick(crowds, random);
      break;
    case 4:
      plan.stake = pick(stakes, random);
      break;
    case 5:
      plan.exit_hours = pick(exits, random);
      break;
    case 6:
      plan.target = static_cast<JobClass>(random() % 3);
      break;
    case 7:
      candidate.task_seconds = pick(lengths, random);
      break;
    case 8:
      candidate.replicas = 1 + random() % 2;
      break;
    default:
      candidate.strategy = find_strategy(pick(played, random));
      plan.own_jobs = candidate.strategy->plan().own_jobs;
      break;
  }
}

Candidate at_random(Random& random) {
  Candidate candidate;
  candidate.strategy = find_strategy("zeros");
  for (std::uint64_t which = 0; which < 10; ++which) vary(candidate, which, random);
  return candidate;
}

void evaluate(Candidate& candidate, std::uint64_t seed, std::uint32_t tasks,
              const std::function<bool()>& stop) {
  Scene setup = standard_setup(seed, tasks);
  setup.task_seconds = candidate.task_seconds;
  setup.replicas = candidate.replicas;
  candidate.outcome = play(setup, candidate.strategy, candidate.plan, stop);
  candidate.harm = harm_of(candidate.outcome, candidate.plan);
}

}  // namespace

double harm_of(const Outcome& outcome, const Plan& plan) {
  double harm = static_cast<double>(outcome.honest_convicted) * 1000;
  harm = std::max(harm, static_cast<double>(outcome.jobs_failed) * 1000);
  if (outcome.established_share > promises::established_share_max + 0.02) return harm;
  if (outcome.tasks > 0)
    harm = std::max(harm, static_cast<double>(outcome.wrong_all) /
                              static_cast<double>(outcome.tasks) / promises::wrong_all_share_max);
  harm = std::max(harm, outcome.uncorrected_share() / promises::wrong_share_max);
  // A cheat that costs less than the promise is harmful, the more so the less it costs. With too
  // few findings the cost is chance; measures() plays such plans longer.
  const double findings = static_cast<double>(outcome.cheats) * plan.slices / slices_of_a_task;
  if (outcome.wrong >= 10 && findings >= findings_min)
    harm = std::max(harm, 1 + (promises::cost_min - outcome.cost()) / promises::cost_min);
  return harm;
}

std::string describe(const Candidate& candidate) {
  const Plan& plan = candidate.plan;
  return weft::format(
      "{}: wrong in {} of 64 slices of {} of the tasks, {}, stake {}, exit {} h, {} jobs of {} s, "
      "replicas {}",
      candidate.strategy->name, plan.slices, plan.task_share,
      plan.start > 0 ? weft::format("standing {}", plan.start)
                     : weft::format("{} fresh wallets", plan.wallets),
      plan.stake, plan.exit_hours,
      plan.target == JobClass::all      ? "all"
      : plan.target == JobClass::costly ? "costly"
                                        : "cheap",
      candidate.task_seconds, candidate.replicas);
}

Found search(const SearchOptions& options,
             const std::function<void(std::uint32_t, std::uint32_t, const Candidate&)>& progress,
             const std::function<bool()>& stop) {
  Found found;
  std::mutex mutex;
  std::vector<Candidate>& best = found.best;
  const std::uint32_t all = options.evaluations + options.best;
  std::uint32_t done = 0;
  const auto keep = [&](const Candidate& candidate) {
    best.push_back(candidate);
    std::ranges::stable_sort(best, std::ranges::greater{}, &Candidate::harm);
    if (best.size() > options.best) best.pop_back();
  };
  const auto run = [&](std::uint32_t count, const auto& make, const auto& take) {
    std::atomic<std::uint32_t> next = 0;
    const auto work = [&] {
      while (!stop()) {
        const std::uint32_t number = next++;
        if (number >= count) return;
        auto [candidate, tasks] = make(number);
        evaluate(candidate, options.seed * 1'000'003 + number, tasks, stop);
        if (stop()) return;
        const std::lock_guard lock(mutex);
        take(number, std::move(candidate));
        ++done;
        if (!best.empty()) progress(done, all, best.front());
      }
    };
    std::vector<std::jthread> threads;
    for (std::uint32_t i = 1; i < options.threads; ++i) threads.emplace_back(work);
    work();
  };
  // Half of the evaluations are random plans. The other half are generations of neighbours of the
  // best plans. A whole generation is made before any of it is played, so that the number of
  // threads does not change the plans.
  const std::uint32_t blind = options.evaluations / 2;
  std::uint32_t played_so_far = 0;
  std::vector<Candidate> generation;
  const auto generate = [&](std::uint32_t count, const auto& plan_of) {
    std::vector<Candidate> made(count);
    run(
        count,
        [&](std::uint32_t number) {
          Random random((options.seed << 20) + played_so_far + number);
          return std::pair(plan_of(number, random), options.tasks);
        },
        [&](std::uint32_t number, const Candidate& candidate) { made[number] = candidate; });
    played_so_far += count;
    for (const Candidate& each : made) {
      if (each.strategy != nullptr) keep(each);
    }
  };
  constexpr std::uint32_t generation_size = 50;
  while (played_so_far < options.evaluations && !stop()) {
    const std::uint32_t count = std::min(generation_size, options.evaluations - played_so_far);
    const bool is_blind = played_so_far < blind || best.empty();
    const std::vector<Candidate> parents = best;
    generate(count, [&](std::uint32_t number, Random& random) {
      if (is_blind) return at_random(random);
      Candidate child = parents[number % parents.size()];
      vary(child, random(), random);
      if (random() % 2 == 0) vary(child, random(), random);
      return child;
    });
  }
  found.evaluations = played_so_far;
  if (stop()) return found;
  std::vector<Candidate> again = best;
  run(
      static_cast<std::uint32_t>(again.size()),
      [&](std::uint32_t number) { return std::pair(again[number], options.best_tasks); },
      [&](std::uint32_t number, const Candidate& candidate) { best[number] = candidate; });
  std::ranges::stable_sort(best, std::ranges::greater{}, &Candidate::harm);
  return found;
}

}  // namespace weft::trust::attacks
