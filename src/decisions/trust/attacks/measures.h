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
// The attackers' largest share of established work for which the promises about wrong tasks hold.
inline constexpr double established_share_max = 0.3;
inline constexpr double cost_min = 2;  // Least cost of a wrong task, in prices of a task.
inline constexpr double slowdown_max = 1.3;
inline constexpr double price_max = 1.25;
inline constexpr double quote_moved_max = 1.1;
inline constexpr double extra_max = 0.05;
inline constexpr double sample_wait_max = 600;  // Longest allowed wait of a sample, in seconds.
}  // namespace promises

// The expected number of findings from which the measured cost of a plan counts. With fewer
// findings, the cost is chance.
inline constexpr double findings_min = 12;

// A scene with forty established workers, forty clients, and a verifier whose speed relative to
// them is that of lavapipe, a software GPU.
[[nodiscard]] Scene standard_setup(std::uint64_t seed, std::uint32_t tasks);

struct Row {
  std::string measure;
  std::string goal;
  std::string measured;
  std::string how;  // The tasks and attacks of the measurement.
  bool kept = true;
};

struct TableOptions {
  std::uint64_t seed = 1;
  double scale = 1;  // Tasks of a run, relative to those that the promises are stated for.
};

// A promise about attacks. `row()` plays the runs that measure whether it is kept.
struct Measure {
  std::string_view name;
  Row (*row)(const TableOptions& options);
};
[[nodiscard]] std::span<const Measure> measures();

}  // namespace weft::trust::attacks
