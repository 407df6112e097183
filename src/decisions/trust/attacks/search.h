// Looks for the attack that does the most harm: plans at random, then hill climbing from the best.
// Evaluations run on as many threads as there are; the same seed gives the same plans.
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
  std::uint32_t tasks = 20'000;  // Tasks of each evaluation.
  std::uint32_t best = 20;       // So many are played again
  std::uint32_t best_tasks = 400'000;
  std::uint32_t threads = 2;
};

struct Candidate {
  const Entry* strategy = nullptr;
  Plan plan;
  double task_seconds = 2;
  std::uint32_t replicas = 2;
  double harm = 0;  // See harm_of().
  Outcome outcome;
};

// How far an outcome is from the promises: 1 is where the first of them breaks.
[[nodiscard]] double harm_of(const Outcome& outcome, const Plan& plan);
// What the search varies, in words.
[[nodiscard]] std::string describe(const Candidate& candidate);

struct Found {
  std::vector<Candidate> best;  // The worst for the network first.
  std::uint32_t evaluations = 0;
};
// `progress`: after each evaluation, from one thread at a time. Ends early, with what there is,
// once `stop` says so.
[[nodiscard]] Found search(const SearchOptions& options,
                           const std::function<void(std::uint32_t done, std::uint32_t of,
                                                    const Candidate& worst)>& progress,
                           const std::function<bool()>& stop);

}  // namespace weft::trust::attacks
