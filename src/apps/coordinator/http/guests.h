// Access to models without an API key where keys are required: for the coordinator's own page. A
// guest's token is given to a browser that fetches it from the page's origin, lasts an hour,
// belongs to one address, and has a small rate for each address; it is not much of a secret and
// costs no credits. What browsers of other sites send is told by Sec-Fetch-Site, which scripts
// cannot set.
//
// Threading: any. Bounds: addresses_max.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "common/base/clock.h"
#include "common/base/guarded.h"
#include "common/base/ids.h"
#include "platform/net/rate_limit.h"

namespace weft::coordinator {

inline constexpr std::string_view guest_prefix = "guest-";

class Guests {
 public:
  // 0 answers a minute: no guests.
  explicit Guests(std::uint32_t requests_per_min);

  [[nodiscard]] bool welcome() const { return requests_per_min_ > 0; }
  // "guest-ADDRESS_AND_HOUR": an HMAC by a secret of this process, so that nothing is kept for it.
  [[nodiscard]] std::string token_for(std::string_view address, UnixMillis now) const;
  // unauthenticated for a token that is not for this address or too old, resource_exhausted over
  // the rate.
  [[nodiscard]] Result<> admit(std::string_view token, std::string_view address,
                               UnixMillis unix_time, Instant now);

 private:
  const std::uint32_t requests_per_min_;
  Hash secret_;
  Guarded<net::RateLimit> rates_;
};

}  // namespace weft::coordinator
