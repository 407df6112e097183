// How far wallets that cost nothing move what a job is quoted at: the scheduler's own market and
// formula, with an honest network's load, beside the same with strangers.
#pragma once

#include <cstdint>

namespace weft::trust::attacks {

struct QuoteAttack {
  std::uint64_t seed = 1;
  std::uint32_t workers = 1000;  // Fresh wallets with wild claims, slots and floors.
  std::uint32_t clients = 1000;  // Fresh wallets that let work wait, by granted credits
  double credits_each = 0.1;     // and by so much of their own.
};

// The largest factor, up or down, over loads from idle to ten minutes of work and over jobs that
// run everywhere, on a part of the fleet and on one worker; 1: none moved.
[[nodiscard]] double quote_moved(const QuoteAttack& attack);

}  // namespace weft::trust::attacks
