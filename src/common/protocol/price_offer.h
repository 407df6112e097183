// A signed quote: what the coordinator promises that a job costs, until when, and its text, which a
// submission carries (POST /v1/jobs?quote=TEXT). The coordinator keeps none of it: the signature
// covers the coordinator, the client, the manifest and every number.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/bytes.h"
#include "common/base/ids.h"
#include "common/base/result.h"

namespace weft::protocol {

struct PriceOffer {
  std::array<std::uint8_t, 16> id{};  // Random.
  MicroCredits per_unit = 0;
  MicroCredits price = 0;  // The whole job's; 0: not known.
  std::int64_t until = 0;  // Milliseconds since 1970.
  Signature signature{};
};

// For whom and for what it is: not in its text, since both sides know it.
struct OfferSubject {
  PublicKey coordinator;
  PublicKey client;
  Hash manifest;  // As it is stored.
};

// SHA-256("weft-quote-1" || coordinator || client || manifest || id || per_unit || price || until),
// numbers as u64, little-endian.
[[nodiscard]] ByteVector offer_digest(const PriceOffer& offer, const OfferSubject& subject);

// "ID.PER_UNIT.PRICE.UNTIL.SIGNATURE": hex, decimal numbers, base58.
[[nodiscard]] std::string offer_text(const PriceOffer& offer);
// invalid_argument for anything else. The signature is not looked at.
[[nodiscard]] Result<PriceOffer> read_offer(std::string_view text);

}  // namespace weft::protocol
