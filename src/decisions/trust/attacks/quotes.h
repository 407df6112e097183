// Measures how far wallets that cost nothing move the quote for a job. The scheduler's own market
// and formula make the quotes for an honest network under load, once without strangers and once
// with them.
#pragma once

#include <cstdint>

namespace weft::trust::attacks {

struct QuoteAttack {
  std::uint64_t seed = 1;
  std::uint32_t workers = 1000;  // Fresh wallets with wild claims, slots and floors.
  std::uint32_t clients = 1000;  // Fresh wallets whose jobs wait, on granted and on own credits.
  double credits_each = 0.1;     // The credits that each of the clients' wallets owns.
};

// Returns the largest factor by which strangers move a quote, up or down; 1 if no quote moved.
// Quotes are made for loads from idle to ten minutes of work, and for jobs that can run on the
// whole fleet, on a part of it, on one worker or on none.
[[nodiscard]] double quote_moved(const QuoteAttack& attack);

}  // namespace weft::trust::attacks
