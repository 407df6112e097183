// weft simulate trust: simulates the effects of the proof-of-compute policy, from a seed
// (docs/proof.md).
#pragma once

#include <cstdint>

namespace weft::cli {

struct SimulateTrustOptions {
  std::uint64_t seed = 1;
  std::uint32_t seeds = 1;  // Number of runs, with seeds from `seed` on.
  std::uint32_t workers = 200;
  std::uint32_t tasks = 400'000;
  std::uint32_t job_tasks = 10'000;
  // Trials of one cheat at each reputation, for a table of its gain; 0: no table.
  std::uint32_t trials = 20'000;
  std::uint32_t parts_wrong = 32;  // Wrong parts out of 32 in these trials of a cheat.
  bool json = false;
};

// Returns exit code 1 if a promise is broken.
int simulate_trust_command(const SimulateTrustOptions& options);

}  // namespace weft::cli
