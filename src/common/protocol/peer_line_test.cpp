// Frames of a direct line arrive complete however the socket cuts them, and other bytes are
// refused.
#include "common/protocol/peer_line.h"

#include <gtest/gtest.h>

#include <random>

namespace weft::protocol::serving {
namespace {

LineHello hello() {
  LineHello out{.chain = 7, .epoch = 3, .from = 1, .to = 2};
  for (std::size_t i = 0; i < out.token.size(); ++i) out.token[i] = static_cast<std::uint8_t>(i);
  return out;
}

TEST(PeerLine, HelloSurvivesItsBytesAndNothingElseIsOne) {
  const ByteVector bytes = encode(hello());
  ASSERT_EQ(bytes.size(), line_hello_bytes);
  const auto read = decode_line_hello(bytes);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(encode(*read), bytes);
  EXPECT_EQ(read->to, 2);
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(decode_line_hello(ByteSpan(bytes).first(size)).has_value()) << size;
  ByteVector other = bytes;
  other[0] ^= 1;
  EXPECT_FALSE(decode_line_hello(other).has_value());
}

TEST(PeerLine, FramesArriveWholeHoweverTheyAreCut) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    std::vector<ByteVector> sent, come;
    ByteVector wire;
    for (int i = 0; i < 6; ++i) {
      ByteVector frame(1 + random() % (i == 3 ? line_frame_bytes_max : 300));
      for (auto& byte : frame) byte = static_cast<std::uint8_t>(random());
      append(wire, encode_line_frame(frame));
      sent.push_back(std::move(frame));
    }
    LineReader reader;
    for (std::size_t at = 0; at < wire.size();) {
      const std::size_t size = std::min<std::size_t>(wire.size() - at, 1 + random() % 5000);
      ASSERT_TRUE(reader.read(ByteSpan(wire).subspan(at, size), [&](ByteVector frame) {
        come.push_back(std::move(frame));
        return true;
      }));
      at += size;
    }
    ASSERT_EQ(come, sent);
  }
}

TEST(PeerLine, ALengthThatNoFrameHasIsRefusedBeforeItIsRead) {
  for (const std::uint32_t length :
       {0u, static_cast<std::uint32_t>(line_frame_bytes_max + 1), ~0u}) {
    ByteVector wire;
    append_le(wire, length);
    wire.push_back(1);
    LineReader reader;
    const auto read = reader.read(wire, [](const ByteVector&) { return true; });
    ASSERT_FALSE(read.has_value()) << length;
    EXPECT_EQ(read.error().code, ErrorCode::invalid_argument);
  }
}

TEST(PeerLine, AFrameOfAnotherSessionIsNotTakenForOneOfThis) {
  const ByteVector hop =
      encode(HopFrame{.chain = 7, .epoch = 3, .from = 1, .to = 2, .payload = {5}});
  const ByteVector ping =
      encode(PingFrame{.chain = 7, .epoch = 3, .from = 1, .to = 2, .number = 9});
  for (const ByteVector& frame : {hop, ping}) {
    EXPECT_TRUE(belongs(frame, 7, 3, 1, 2));
    EXPECT_FALSE(belongs(frame, 8, 3, 1, 2));
    EXPECT_FALSE(belongs(frame, 7, 4, 1, 2));
    EXPECT_FALSE(belongs(frame, 7, 3, 0, 2));
    EXPECT_FALSE(belongs(frame, 7, 3, 1, 0));
  }
  EXPECT_FALSE(belongs({}, 7, 3, 1, 2));
  EXPECT_TRUE(is_ping(ping));
  EXPECT_FALSE(is_ping(hop));
  const auto read = decode_ping(ping);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->number, 9u);
  EXPECT_FALSE(read->answer);
  EXPECT_FALSE(decode_ping(hop).has_value());
  EXPECT_FALSE(decode_hop(ping).has_value());
}

}  // namespace
}  // namespace weft::protocol::serving
