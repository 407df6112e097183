#include "apps/coordinator/serving/guests.h"

#include <format>

#include "common/base/counted.h"
#include "common/crypto/keys.h"
#include "common/crypto/sha256.h"

namespace weft::coordinator {

namespace {

constexpr UnixMillis hour = 3'600'000;

}  // namespace

Guests::Guests(std::uint32_t requests_per_min)
    : requests_per_min_(requests_per_min),
      rates_(net::RateLimit({.per_second = requests_per_min / 60.0, .burst = static_cast<double>(requests_per_min)})) {
  crypto::random_bytes(secret_.bytes);
}

// The inputs have one form each and the output is not extended by anybody: a keyed hash with the key at both ends.
std::string Guests::token_for(std::string_view address, UnixMillis now) const {
  crypto::Sha256 digest;
  digest.update(secret_.span()).update(as_bytes(std::format("weft-guest-1 {} {}", now / hour, address))).update(secret_.span());
  return std::string(guest_prefix) + digest.finish().text();
}

Result<> Guests::admit(std::string_view token, std::string_view address, UnixMillis unix_time, Instant now) {
  const bool known = welcome() && (token == token_for(address, unix_time) || token == token_for(address, unix_time - hour));
  if (!known) return fail(ErrorCode::unauthenticated, "The guest's token is too old; the page fetches another.");
  if (!rates_.with([&](net::RateLimit& rates) { return rates.take(address, 1, now); }))
    return fail(ErrorCode::resource_exhausted, "Guests may ask {} a minute (--guest-requests); an API key may ask more.",
                counted(requests_per_min_, "time"));
  return {};
}

}  // namespace weft::coordinator
