#include "apps/coordinator/http/guests.h"

#include "common/base/counted.h"
#include "common/base/format.h"
#include "common/crypto/hmac.h"
#include "common/crypto/keys.h"

namespace weft::coordinator {

namespace {

constexpr UnixMillis hour = 3'600'000;

}  // namespace

Guests::Guests(std::uint32_t requests_per_min)
    : requests_per_min_(requests_per_min),
      rates_(net::RateLimit({.per_second = requests_per_min / 60.0,
                             .burst = static_cast<double>(requests_per_min)})) {
  crypto::random_bytes(secret_.bytes);
}

std::string Guests::token_for(std::string_view address, UnixMillis now) const {
  const std::string message = weft::format("weft-guest-1 {} {}", now / hour, address);
  return std::string(guest_prefix) + crypto::hmac_sha256(secret_.span(), as_bytes(message)).text();
}

Result<> Guests::admit(std::string_view token, std::string_view address, UnixMillis unix_time,
                       Instant now) {
  const auto is_of = [&](UnixMillis issued) {
    return crypto::equal_in_constant_time(as_bytes(token), as_bytes(token_for(address, issued)));
  };
  const bool known = welcome() && (is_of(unix_time) || is_of(unix_time - hour));
  if (!known)
    return fail(ErrorCode::unauthenticated,
                "The guest's token is not valid, or no longer valid; the coordinator's page "
                "fetches another one.");
  if (!rates_.with([&](net::RateLimit& rates) { return rates.take(address, 1, now); }))
    return fail(ErrorCode::resource_exhausted,
                "A guest may ask {} a minute (--guest-requests on the coordinator); an API key may "
                "ask more often.",
                counted(requests_per_min_, "time"));
  return {};
}

}  // namespace weft::coordinator
