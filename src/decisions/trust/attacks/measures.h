// The promises of docs/proof.md, each with the runs that measure it.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "decisions/trust/attacks/setup.h"

namespace weft::trust::attacks {

namespace promises {
inline constexpr double wrong_all_share_max = 1e-6;
inline constexpr double wrong_share_max = 1e-4;
inline constexpr double cost_min = 2;  // Prices of a task.
inline constexpr double slowdown_max = 1.3;
inline constexpr double price_max = 1.25;
inline constexpr double quote_moved_max = 1.1;
inline constexpr double extra_max = 0.05;
inline constexpr double sample_wait_max = 600;  // Seconds.
}  // namespace promises

// What a plan costs its attackers is known after so many findings were to be expected, not before.
inline constexpr double findings_min = 12;

// Forty established workers, forty clients, a verifier as fast as lavapipe is beside such a
// network.
[[nodiscard]] Scene standard_setup(std::uint64_t seed, std::uint32_t tasks);

struct Row {
  std::string measure;
  std::string goal;
  std::string measured;
  std::string how;  // Tasks and attacks that it was measured with.
  bool kept = true;
};

struct TableOptions {
  std::uint64_t seed = 1;
  double scale = 1;  // Tasks of each run, over those that the promises are stated for.
};

// One promise. `row()` plays its runs.
struct Measure {
  std::string_view name;
  Row (*row)(const TableOptions& options);
};
[[nodiscard]] std::span<const Measure> measures();

}  // namespace weft::trust::attacks
