// Access to models without an API key for the coordinator's own page, if keys are required. A
// browser that fetches a guest token from the page's origin can use it for one to two hours, from
// one address, and at a small rate for each address. Guests pay no credits, so the token needs
// little secrecy. Requests of browsers on other sites are recognised by Sec-Fetch-Site, which
// scripts cannot set.
//
// Threading: any. Bounds: addresses_max of net::RateLimit.
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
  // The rate of each address. 0 allows no guests.
  explicit Guests(std::uint32_t requests_per_min);

  [[nodiscard]] bool welcome() const { return requests_per_min_ > 0; }
  // A guest's token: a prefix and an HMAC of address and hour with a secret of this process, so
  // that no token is stored.
  [[nodiscard]] std::string token_for(std::string_view address, UnixMillis now) const;
  // Admits one request. Fails with unauthenticated if the token is too old or was made for another
  // address, and with resource_exhausted if the address exceeds its rate.
  [[nodiscard]] Result<> admit(std::string_view token, std::string_view address,
                               UnixMillis unix_time, Instant now);

 private:
  const std::uint32_t requests_per_min_;
  Hash secret_;
  Guarded<net::RateLimit> rates_;
};

}  // namespace weft::coordinator
