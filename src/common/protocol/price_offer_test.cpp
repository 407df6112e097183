// Tests of quotes: the text of a quote reads as what was written, and the digest covers everything
// that the quote promises.
#include "common/protocol/price_offer.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

namespace weft::protocol {
namespace {

PriceOffer an_offer() {
  PriceOffer offer{
      .id = {1, 2, 3}, .per_unit = 1'500'000, .price = 16'000'000, .until = 1'764'000'000'000};
  offer.signature.bytes.fill(7);
  return offer;
}

TEST(PriceOffer, IsReadAsItWasWritten) {
  const auto read = read_offer(offer_text(an_offer()));
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(offer_text(*read), offer_text(an_offer()));
  EXPECT_EQ(read->price, 16'000'000);
}

TEST(PriceOffer, AnythingElseIsRefused) {
  const std::string whole = offer_text(an_offer());
  for (const std::string& text :
       {std::string(), std::string("...."), whole + ".", whole.substr(1), whole + "0Il",
        std::string("00000000000000000000000000000000.-1.0.0.") +
            whole.substr(whole.rfind('.') + 1)}) {
    const auto read = read_offer(text);
    ASSERT_FALSE(read.has_value()) << text;
    EXPECT_EQ(read.error().code, ErrorCode::invalid_argument);
  }
}

TEST(PriceOffer, TheDigestCoversEveryPart) {
  std::set<ByteVector> digests;
  const auto add = [&](const std::function<void(PriceOffer&, OfferSubject&)>& change) {
    PriceOffer offer = an_offer();
    OfferSubject subject{};
    change(offer, subject);
    EXPECT_TRUE(digests.insert(offer_digest(offer, subject)).second);
  };
  add([](PriceOffer&, OfferSubject&) {});
  add([](PriceOffer& offer, OfferSubject&) { offer.id[15] = 1; });
  add([](PriceOffer& offer, OfferSubject&) { ++offer.per_unit; });
  add([](PriceOffer& offer, OfferSubject&) { ++offer.price; });
  add([](PriceOffer& offer, OfferSubject&) { ++offer.until; });
  add([](PriceOffer&, OfferSubject& subject) { subject.coordinator.bytes[0] = 1; });
  add([](PriceOffer&, OfferSubject& subject) { subject.client.bytes[0] = 1; });
  add([](PriceOffer&, OfferSubject& subject) { subject.manifest.bytes[0] = 1; });
}

}  // namespace
}  // namespace weft::protocol
