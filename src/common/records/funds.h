// An amount of money by where it came from, and how an amount is divided without losing a
// micro-credit and without changing where it came from.
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

// `amount` out of `from`, granted credits first, as what is spent; at most what `from` holds is
// granted, the rest is free (whether it is there is the ledger's to say).
[[nodiscard]] Funds granted_first(const Funds& from, MicroCredits amount);
// Free credits first, as what is returned from an escrow: what stays there is spent first.
[[nodiscard]] Funds free_first(const Funds& from, MicroCredits amount);

// Divides `all` over `amounts`, whose sum it is, each with its share of the granted credits: the
// first i amounts together have floor(granted * (their sum) / total) of them. None differs by as
// much as one micro-credit from its exact share, and both columns sum to `all`. Amounts are not
// negative.
[[nodiscard]] std::vector<Funds> divide(const Funds& all, std::span<const MicroCredits> amounts);

}  // namespace weft::ledger
