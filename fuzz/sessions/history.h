// One history of a coordinator and its parties. The coordinator's bounds, the parties, and the time
// of each act follow from the seed of the history.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace weft::sessions {

struct Outcome {
  std::size_t events = 0;
  std::size_t restarts = 0;
  std::size_t plain_jobs = 0;                 // Jobs that an honest client submits at the end.
  std::map<std::string, std::size_t> counts;  // Counted events by name (World::counts).
  std::string trouble;                        // The first failure; empty: the history passed.
};
[[nodiscard]] Outcome run_history(std::uint64_t seed);

}  // namespace weft::sessions
