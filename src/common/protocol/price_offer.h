// A signed quote: the coordinator promises the price of a job until a stated time. A submission
// carries the quote as a text (POST /v1/jobs?quote=TEXT). The coordinator does not store it,
// because the signature covers the coordinator, the client, the manifest and every number.
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
  std::array<std::uint8_t, 16> id{};  // 16 random bytes that identify the quote.
  MicroCredits per_unit = 0;
  MicroCredits price = 0;  // The price of the whole job; 0: unknown.
  std::int64_t until = 0;  // End of validity in milliseconds since 1970.
  Signature signature{};
};

// The parties and the job of an offer. They are not in its text, because both sides know them.
struct OfferSubject {
  PublicKey coordinator;
  PublicKey client;
  Hash manifest;  // The hash of the stored manifest.
};

// The signed digest: SHA-256("weft-quote-1" || coordinator || client || manifest || id || per_unit
// || price || until), with numbers as u64, little-endian.
[[nodiscard]] ByteVector offer_digest(const PriceOffer& offer, const OfferSubject& subject);

// The text of an offer: "ID.PER_UNIT.PRICE.UNTIL.SIGNATURE" in hex, decimal numbers and base58.
[[nodiscard]] std::string offer_text(const PriceOffer& offer);
// Reads an offer. Fails with invalid_argument for anything else. Does not check the signature.
[[nodiscard]] Result<PriceOffer> read_offer(std::string_view text);

}  // namespace weft::protocol
