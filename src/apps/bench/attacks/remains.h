// Compares a stopped coordinator's folder with the truth of a play: rows and outputs as they are on
// the disk.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "apps/bench/attacks/cast.h"
#include "apps/bench/attacks/play_types.h"
#include "common/base/result.h"

namespace weft::coordinator::bench {

struct Remains {
  // Numbers of jobs of honest clients.
  std::uint32_t jobs_done = 0;
  std::uint32_t jobs_failed = 0;
  std::string reason;           // Why the first failed job failed.
  std::uint64_t tasks = 0;      // Accepted tasks.
  std::uint64_t undecided = 0;  // Tasks that were not accepted.
  std::uint64_t wrong = 0;      // Accepted tasks with wrong final outputs.
  double price = 0;             // Mean price of a replica, in micro-credits.
  // Numbers of suspended workers, and stakes that workers lost.
  std::uint32_t honest_suspended = 0;
  std::uint32_t attackers_suspended = 0;
  MicroCredits attackers_slashed = 0;
  MicroCredits honest_slashed = 0;
  MicroCredits attackers_have = 0;  // Attackers' balances (free, granted, held) without stakes.
};
// Reads the folder. Fails with the errors of the store, and with data_loss if the ledger does not
// add up.
[[nodiscard]] Result<Remains> remains_of(const std::filesystem::path& data, const Played& played,
                                         const trust::attacks::Scene& scene);

}  // namespace weft::coordinator::bench
