#include "common/records/funds.h"

#include <algorithm>

#include "common/base/check.h"

namespace weft::ledger {
namespace {

__extension__ using Wide = __int128;  // GCC and Clang both have this type.

}  // namespace

Funds granted_first(const Funds& from, MicroCredits amount) {
  const MicroCredits granted =
      std::clamp<MicroCredits>(amount, 0, std::max<MicroCredits>(from.granted, 0));
  return {.free = amount - granted, .granted = granted};
}

Funds free_first(const Funds& from, MicroCredits amount) {
  const MicroCredits free =
      std::clamp<MicroCredits>(amount, 0, std::max<MicroCredits>(from.free, 0));
  return {.free = free, .granted = amount - free};
}

std::vector<Funds> divide(const Funds& all, std::span<const MicroCredits> amounts) {
  Wide total = 0;
  for (const MicroCredits amount : amounts) {
    check(amount >= 0, "no amount that is divided out is negative");
    total += amount;
  }
  check(total == static_cast<Wide>(all.free) + all.granted, "all of it is divided");
  std::vector<Funds> out;
  out.reserve(amounts.size());
  Wide before = 0;
  MicroCredits given = 0;
  for (const MicroCredits amount : amounts) {
    before += amount;
    const MicroCredits until =
        total == 0 ? 0 : static_cast<MicroCredits>(static_cast<Wide>(all.granted) * before / total);
    const MicroCredits granted = until - given;
    out.push_back({.free = amount - granted, .granted = granted});
    given = until;
  }
  return out;
}

}  // namespace weft::ledger
