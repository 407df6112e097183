// weft simulate trust: what the proof-of-compute policy comes to, from a seed (docs/proof.md).
#pragma once

#include <cstdint>

namespace weft::cli {

struct SimulateTrustOptions {
  std::uint64_t seed = 1;
  std::uint32_t seeds = 1;  // So many, from `seed` on.
  std::uint32_t workers = 200;
  std::uint32_t tasks = 400'000;
  std::uint32_t job_tasks = 10'000;
  // How often one cheat is tried at each reputation, for a table of what it gains; 0: no table.
  std::uint32_t trials = 20'000;
  std::uint32_t parts_wrong = 32;  // Wrong parts out of 32, in those trials.
  bool json = false;
};

// Exit code 1 where a promise is broken.
int simulate_trust_command(const SimulateTrustOptions& options);

}  // namespace weft::cli
