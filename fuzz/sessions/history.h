// One history: from its seed follow the coordinator's bounds, who is there, and what each does
// when.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace weft::sessions {

struct Outcome {
  std::size_t events = 0;
  std::size_t restarts = 0;
  std::size_t plain_jobs = 0;                 // An honest client's, at the end.
  std::map<std::string, std::size_t> counts;  // World::counts.
  std::string trouble;                        // Empty: all held.
};
[[nodiscard]] Outcome run_history(std::uint64_t seed);

}  // namespace weft::sessions
