// Searches for the attack that does the most harm: first with random plans, then by hill climbing
// from the best plans. Evaluations run on SearchOptions::threads threads; equal seeds give equal
// plans.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "decisions/trust/attacks/strategy.h"

namespace weft::trust::attacks {

struct SearchOptions {
  std::uint64_t seed = 1;
  std::uint32_t evaluations = 2'000;
  std::uint32_t tasks = 20'000;  // The number of tasks in each evaluation.
  std::uint32_t best = 20;       // Number of plans that are played again.
  std::uint32_t best_tasks = 400'000;
  std::uint32_t threads = 2;
};

struct Candidate {
  const Entry* strategy = nullptr;
  Plan plan;
  double task_seconds = 2;
  std::uint32_t replicas = 2;
  double harm = 0;  // The value of harm_of().
  Outcome outcome;
};

// Returns the harm of an outcome relative to the promises: at 1 the first promise breaks. The
// promises about accepted wrong tasks and about their cost count only if the attackers did at most
// established_share_max of the established work, and 2 % more, because cheats are a little faster.
// The promises about honest workers and jobs count always.
[[nodiscard]] double harm_of(const Outcome& outcome, const Plan& plan);
// Describes in words the numbers that the search varies.
[[nodiscard]] std::string describe(const Candidate& candidate);

struct Found {
  std::vector<Candidate> best;  // The best candidates, the most harmful first.
  std::uint32_t evaluations = 0;
};
// Runs the search. `progress` is called after each evaluation, from one thread at a time. The
// search ends early, with the plans that it has found, once `stop` returns true.
[[nodiscard]] Found search(const SearchOptions& options,
                           const std::function<void(std::uint32_t done, std::uint32_t of,
                                                    const Candidate& worst)>& progress,
                           const std::function<bool()>& stop);

}  // namespace weft::trust::attacks
