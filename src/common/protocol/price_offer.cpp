#include "common/protocol/price_offer.h"

#include <algorithm>
#include <charconv>
#include <ranges>
#include <vector>

#include "common/base/format.h"
#include "common/crypto/sha256.h"

namespace weft::protocol {

ByteVector offer_digest(const PriceOffer& offer, const OfferSubject& subject) {
  ByteVector bytes;
  append(bytes, as_bytes(std::string_view("weft-quote-1")));
  append(bytes, subject.coordinator.span());
  append(bytes, subject.client.span());
  append(bytes, subject.manifest.span());
  append(bytes, ByteSpan(offer.id));
  append_le(bytes, static_cast<std::uint64_t>(offer.per_unit));
  append_le(bytes, static_cast<std::uint64_t>(offer.price));
  append_le(bytes, static_cast<std::uint64_t>(offer.until));
  const Hash hash = crypto::sha256(bytes);
  return {hash.bytes.begin(), hash.bytes.end()};
}

std::string offer_text(const PriceOffer& offer) {
  return weft::format("{}.{}.{}.{}.{}", to_hex(offer.id), offer.per_unit, offer.price, offer.until,
                      offer.signature.text());
}

Result<PriceOffer> read_offer(std::string_view text) {
  const auto wrong = [] {
    return fail(ErrorCode::invalid_argument,
                "This is not a quote: give the text that weft quote prints (\"quote\" in the "
                "answer of POST /v1/jobs/quote).");
  };
  std::vector<std::string_view> parts;
  for (const auto part : std::views::split(text, '.')) parts.emplace_back(part.begin(), part.end());
  if (parts.size() != 5) return wrong();
  PriceOffer offer;
  const auto id = from_hex(parts[0]);
  if (!id || id->size() != offer.id.size()) return wrong();
  std::ranges::copy(*id, offer.id.begin());
  const auto number = [](std::string_view digits, std::int64_t& out) {
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), out);
    return error == std::errc() && end == digits.data() + digits.size() && out >= 0;
  };
  if (!number(parts[1], offer.per_unit) || !number(parts[2], offer.price) ||
      !number(parts[3], offer.until))
    return wrong();
  const auto signature = Signature::parse(parts[4]);
  if (!signature) return wrong();
  offer.signature = *signature;
  return offer;
}

}  // namespace weft::protocol
