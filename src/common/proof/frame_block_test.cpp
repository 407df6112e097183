// Frames of a chain under their block's root: each frame opens the root at its own place and at no
// other, and bytes that are not an opening are refused.
#include "common/proof/frame_block.h"

#include <gtest/gtest.h>

#include "common/crypto/sha256.h"

namespace weft::proof {
namespace {

ByteVector frame_of(std::uint32_t number) { return {1, 0, static_cast<std::uint8_t>(number), 7}; }

struct Block {
  explicit Block(std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) hashes.push_back(crypto::sha256(frame_of(i)));
    root = root_of_roots(hashes);
  }
  [[nodiscard]] FrameOpening opening(std::uint32_t index, std::uint32_t first = 64) const {
    return {.line = 2,
            .number = first + index,
            .first = first,
            .count = static_cast<std::uint32_t>(hashes.size()),
            .siblings = inclusion_path_of_roots(hashes, index)->siblings,
            .frame = frame_of(index)};
  }
  std::vector<Hash> hashes;
  Hash root;
};

TEST(FrameBlock, EachFrameOpensItsRootAtItsOwnPlace) {
  for (const std::uint32_t count : {1U, 2U, 5U, 31U, 32U}) {
    const Block block(count);
    for (std::uint32_t i = 0; i < count; ++i) {
      const auto read = decode_frame_opening(encode(block.opening(i)));
      ASSERT_TRUE(read.has_value()) << read.error().message;
      EXPECT_EQ(read->number, 64 + i);
      EXPECT_TRUE(opens(*read, block.root)) << i << " of " << count;

      FrameOpening other = *read;
      other.frame[2] ^= 1;
      EXPECT_FALSE(opens(other, block.root)) << "another frame";
      other = *read;
      other.number = 64 + (i + 1) % count;
      EXPECT_EQ(opens(other, block.root), count == 1) << "another place";
    }
  }
}

TEST(FrameBlock, BytesThatOpenNothingAreRefused) {
  const Block block(32);
  const ByteVector whole = encode(block.opening(3));
  for (const std::size_t bytes : {0U, 16U, 17U, 100U})
    EXPECT_FALSE(decode_frame_opening(ByteSpan(whole).first(bytes)).has_value()) << bytes;
  FrameOpening before = block.opening(3);
  before.number = 63;
  EXPECT_FALSE(decode_frame_opening(encode(before)).has_value()) << "before its block";
  FrameOpening large = block.opening(3);
  large.count = 33;
  EXPECT_FALSE(decode_frame_opening(encode(large)).has_value()) << "a block that is too long";
}

TEST(FrameBlock, ASignatureCoversEachPartOfABlock) {
  const FrameBlock block{
      .chain = 1, .epoch = 2, .line = 3, .first = 32, .count = 7, .root = Block(7).root};
  const ByteVector digest = frame_block_digest(block);
  const auto differs = [&](auto change) {
    FrameBlock other = block;
    change(other);
    return frame_block_digest(other) != digest;
  };
  EXPECT_TRUE(differs([](FrameBlock& one) { one.chain = 9; }));
  EXPECT_TRUE(differs([](FrameBlock& one) { one.epoch = 9; }));
  EXPECT_TRUE(differs([](FrameBlock& one) { one.line = 9; }));
  EXPECT_TRUE(differs([](FrameBlock& one) { one.first = 9; }));
  EXPECT_TRUE(differs([](FrameBlock& one) { one.count = 9; }));
  EXPECT_TRUE(differs([](FrameBlock& one) { one.root.bytes[0] ^= 1; }));
}

}  // namespace
}  // namespace weft::proof
