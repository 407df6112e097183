// Limits the number of grants in a day, in all and from one address, and so the damage of an
// invitation that comes into the wrong hands. Pure: the time is passed in. After a restart the
// day's grants are counted again from the ledger. The ledger holds no addresses, so that the count
// of each address starts again at 0.
//
// Threading: none of its own. Bounds: as many addresses as grants of a day.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "common/base/clock.h"
#include "common/base/result.h"

namespace weft::jobs {

struct GrantLimits {
  std::size_t per_day = 1'000;  // Most grants a day; 0: neither this bound nor per_address applies.
  std::size_t per_address = 16;   // Most grants a day to one address.
  bool kept_over_restart = true;  // The day's total count survives a restart.
};

class GrantBounds {
 public:
  // The start of the day in which grants are counted.
  [[nodiscard]] static UnixMillis day_of(UnixMillis now);
  explicit GrantBounds(GrantLimits limits = {}) : limits_(limits) {}

  // Fails with permission_denied if the day's grants are used up, in all or for this address.
  // `address` is a group of addresses that counts as one (platform/net/address.h).
  [[nodiscard]] Result<> may_grant(const std::string& address, UnixMillis now);
  // Sets the number of grants that earlier processes made today.
  void restore(std::size_t made, UnixMillis now);
  // Counts one grant to a client at this address.
  void count(const std::string& address);

 private:
  const GrantLimits limits_;
  std::int64_t day_ = 0;  // The counted day: days since 1970, in UTC.
  std::size_t all_ = 0;
  std::map<std::string, std::size_t> of_;  // Grants of that day by address.
};

}  // namespace weft::jobs
