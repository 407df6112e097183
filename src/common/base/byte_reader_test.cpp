// Numbers are read as append_le wrote them. Missing bytes are detected and never read.
#include "common/base/byte_reader.h"

#include <gtest/gtest.h>

#include "common/base/ids.h"

namespace weft {
namespace {

TEST(ByteReader, ReadsWhatWasAppended) {
  ByteVector bytes;
  append_le(bytes, std::uint8_t{0xfe});
  append_le(bytes, std::uint16_t{0x1234});
  append_le(bytes, std::uint32_t{0xdeadbeef});
  append_le(bytes, std::uint64_t{0x0123456789abcdef});
  append_le(bytes, std::bit_cast<std::uint32_t>(-1.5F));
  append_le(bytes, std::bit_cast<std::uint64_t>(0.1));
  JobId job;
  job.bytes[15] = 7;
  append(bytes, job.span());
  append_le(bytes, std::uint32_t{2});
  append(bytes, as_bytes("ab"));

  ByteReader in(bytes);
  EXPECT_EQ(in.integer<std::uint8_t>(), 0xfe);
  EXPECT_EQ(in.integer<std::uint16_t>(), 0x1234);
  EXPECT_EQ(in.integer<std::uint32_t>(), 0xdeadbeef);
  EXPECT_EQ(in.integer<std::uint64_t>(), 0x0123456789abcdefU);
  EXPECT_EQ(in.real<float>(), -1.5F);
  EXPECT_EQ(in.real<double>(), 0.1);
  EXPECT_EQ(in.fixed<JobId>(), job);
  const std::size_t count = in.count(1);
  EXPECT_EQ(as_text(in.take(count)), "ab");
  EXPECT_TRUE(in.at_end());
  EXPECT_EQ(bytes[1], 0x34) << "the least significant byte comes first";
}

TEST(ByteReader, NothingIsReadAfterAValueThatIsNotWhole) {
  const ByteVector bytes = {1, 2, 3, 4, 5};
  ByteReader in(bytes);
  EXPECT_EQ(in.integer<std::uint64_t>(), 0U);
  EXPECT_FALSE(in.whole());
  EXPECT_EQ(in.integer<std::uint8_t>(), 0) << "although five bytes were there";
  EXPECT_TRUE(in.take(1).empty());
  EXPECT_EQ(in.rest_bytes(), 0U);
  EXPECT_FALSE(in.at_end());
}

TEST(ByteReader, ASizeOrACountBeyondTheEndIsRefused) {
  ByteVector bytes;
  append_le(bytes, std::uint32_t{3});
  append(bytes, ByteVector(11));
  EXPECT_EQ(ByteReader(bytes).count(4), 0U) << "three of four bytes need twelve";
  EXPECT_EQ(ByteReader(bytes).count(3), 3U);
  ByteReader huge(bytes);
  EXPECT_TRUE(huge.take(~std::uint64_t{0}).empty());
  EXPECT_FALSE(huge.whole());
  EXPECT_EQ(ByteReader(ByteSpan()).fixed<Hash>(), Hash{});
}

TEST(ByteReaderDeathTest, ANumberAtAPlaceIsWhole) {
  const ByteVector bytes = {0x78, 0x56, 0x34, 0x12, 0};
  EXPECT_EQ(read_le<std::uint32_t>(bytes), 0x12345678U);
  EXPECT_EQ(read_le<std::uint16_t>(bytes, 3), 0x12U);
  EXPECT_DEATH((void)read_le<std::uint16_t>(bytes, 4), "a number is whole");
  EXPECT_DEATH((void)read_le<std::uint8_t>(bytes, 6), "a number is whole");
}

}  // namespace
}  // namespace weft
