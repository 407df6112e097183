// Messages of every length arrive complete, also if two members send at once.
#include "common/protocol/hops.h"

#include <gtest/gtest.h>

#include <numeric>

namespace weft::protocol::serving {
namespace {

ByteVector message(std::size_t bytes) {
  ByteVector out(bytes);
  std::iota(out.begin(), out.end(), std::uint8_t{3});
  return out;
}

TEST(Hops, ArriveWhole) {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, hop_payload_bytes_max,
                                  hop_payload_bytes_max + 1, std::size_t{1} << 20}) {
    HopJoiner joiner;
    std::vector<ByteVector> arrived;
    cut_hops(1, 2, 0, 1, message(bytes), [&](const ByteVector& frame) {
      auto joined = joiner.take(decode_hop(frame).value());
      ASSERT_TRUE(joined.has_value());
      if (*joined) arrived.push_back(**joined);
    });
    ASSERT_EQ(arrived.size(), 1u) << bytes;
    EXPECT_EQ(arrived[0], message(bytes));
  }
}

TEST(Hops, OfTwoSendersDoNotMix) {
  HopJoiner joiner;
  EXPECT_FALSE(joiner.take({.from = 0, .to = 2, .more = true, .payload = {1}}).value().has_value());
  EXPECT_EQ(joiner.take({.from = 1, .to = 2, .more = false, .payload = {7}}).value().value(),
            ByteVector{7});
  EXPECT_EQ(joiner.take({.from = 0, .to = 2, .more = false, .payload = {2}}).value().value(),
            (ByteVector{1, 2}));
}

TEST(Hops, WithoutAnEndAreRefused) {
  HopJoiner joiner;
  const HopFrame endless{.more = true, .payload = message(hop_payload_bytes_max)};
  Result<std::optional<ByteVector>> taken;
  for (int i = 0; i < 400 && taken; ++i) taken = joiner.take(endless);
  EXPECT_EQ(taken.error().code, ErrorCode::resource_exhausted);
}

}  // namespace
}  // namespace weft::protocol::serving
