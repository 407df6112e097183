// What the folder of a coordinator that has stopped says about a play: rows and outputs as they are
// on the disk, compared with the truth.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "apps/bench/attacks/cast.h"
#include "apps/bench/attacks/play_types.h"
#include "common/base/result.h"

namespace weft::coordinator::bench {

struct Remains {
  // Jobs of honest clients.
  std::uint32_t jobs_done = 0;
  std::uint32_t jobs_failed = 0;
  std::string reason;           // The first of these gives.
  std::uint64_t tasks = 0;      // Accepted,
  std::uint64_t undecided = 0;  // not accepted,
  std::uint64_t wrong = 0;      // and wrong in what their clients have in the end.
  double price = 0;             // Mean price of one run of a task, in micro-credits.
  // Workers.
  std::uint32_t honest_suspended = 0;
  std::uint32_t attackers_suspended = 0;
  MicroCredits attackers_slashed = 0;
  MicroCredits honest_slashed = 0;
  MicroCredits attackers_have = 0;  // Free, granted and held, without stakes.
};
// data_loss also where the ledger does not add up.
[[nodiscard]] Result<Remains> remains_of(const std::filesystem::path& data, const Played& played,
                                         const trust::attacks::Scene& scene);

}  // namespace weft::coordinator::bench
