// An amount of money by its origin, and the division of an amount without losing a micro-credit or
// changing its origin.
#pragma once

#include <span>
#include <vector>

#include "common/base/ids.h"

namespace weft::ledger {

struct Funds {
  MicroCredits free = 0;
  MicroCredits granted = 0;

  [[nodiscard]] MicroCredits total() const { return free + granted; }
  friend bool operator==(const Funds&, const Funds&) = default;
};

// `amount` out of `from` with granted credits first, as for spending. At most the granted credits
// of `from` are granted, and the rest is free; the ledger checks that there is enough.
[[nodiscard]] Funds granted_first(const Funds& from, MicroCredits amount);
// `amount` out of `from` with free credits first, as for returns from an escrow: the credits that
// stay in the escrow are spent first.
[[nodiscard]] Funds free_first(const Funds& from, MicroCredits amount);

// Divides `all` over `amounts`, which sum to `all`. Each amount gets its share of the granted
// credits: the first i amounts together get floor(granted * (their sum) / total) of them. Each
// share differs by less than one micro-credit from the exact share, and both columns sum to `all`.
// No amount is negative.
[[nodiscard]] std::vector<Funds> divide(const Funds& all, std::span<const MicroCredits> amounts);

}  // namespace weft::ledger
