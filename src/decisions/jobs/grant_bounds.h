// How many grants a day brings, in all and from one address: what an invitation is worth that comes
// into the wrong hands. Pure: the time is passed in. After a restart those of the day are counted
// again from the ledger, which knows no addresses: an address begins again.
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
  std::size_t per_day = 1'000;    // 0: no bound; also below.
  std::size_t per_address = 16;   // A day.
  bool kept_over_restart = true;  // Those of the day in all.
};

class GrantBounds {
 public:
  // The begin of the day in which grants are counted.
  [[nodiscard]] static UnixMillis day_of(UnixMillis now);
  explicit GrantBounds(GrantLimits limits = {}) : limits_(limits) {}

  // permission_denied if there was enough of them today. `address`: the group of addresses that
  // count as one (platform/net/address.h).
  [[nodiscard]] Result<> may_grant(const std::string& address, UnixMillis now);
  // So many were made today before this process.
  void restore(std::size_t made, UnixMillis now);
  // One was made.
  void count(const std::string& address);

 private:
  const GrantLimits limits_;
  std::int64_t day_ = 0;  // Since 1970, in UTC.
  std::size_t all_ = 0;
  std::map<std::string, std::size_t> of_;  // By address.
};

}  // namespace weft::jobs
