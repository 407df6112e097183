// Chain frames: encoding and decoding keeps every field, and other bytes are refused.
#include "engine/llm/chain/chain_frame.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace weft::llm {
namespace {

ChainFrame sample(ChainFrame::Kind kind) {
  ChainFrame frame{.kind = kind,
                   .sequence = 3,
                   .ticket = 9,
                   .at = 17,
                   .want = ChainFrame::Want::draw,
                   .tokens = {5, 70000},
                   .values = {1.5F, -0.25F, 3e-5F}};
  if (kind == ChainFrame::Kind::sampling)
    frame.sampling = {.temperature = 0.5F, .top_k = 40, .top_p = 0.9F, .seed = 1234567890123ULL};
  if (kind == ChainFrame::Kind::fault) {
    frame.code = ErrorCode::out_of_memory;
    frame.message = "There is no room.";
  }
  return frame;
}

class ChainFrames : public testing::TestWithParam<ChainFrame::Kind> {};
INSTANTIATE_TEST_SUITE_P(Kinds, ChainFrames,
                         testing::Values(ChainFrame::Kind::pass, ChainFrame::Kind::sampling,
                                         ChainFrame::Kind::close, ChainFrame::Kind::drawn,
                                         ChainFrame::Kind::logits, ChainFrame::Kind::fault));

TEST_P(ChainFrames, SurviveTheirBytes) {
  const ChainFrame frame = sample(GetParam());
  const auto read = decode_chain_frame(encode(frame));
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(read->kind, frame.kind);
  EXPECT_EQ(read->sequence, 3u);
  EXPECT_EQ(read->ticket, 9u);
  EXPECT_EQ(read->at, 17u);
  EXPECT_EQ(read->want, frame.want);
  EXPECT_EQ(read->tokens, frame.tokens);
  EXPECT_EQ(read->values, frame.values);
  EXPECT_EQ(read->message, frame.message);
  EXPECT_EQ(read->sampling.seed, frame.sampling.seed);
  EXPECT_EQ(read->sampling.top_p, frame.sampling.top_p);
  if (frame.kind == ChainFrame::Kind::fault) {
    EXPECT_EQ(read->code, ErrorCode::out_of_memory);
  }
}

TEST_P(ChainFrames, AreRefusedWhenCutOrLengthened) {
  const ByteVector whole = encode(sample(GetParam()));
  // The text of a fault extends to the end of the frame.
  const bool has_text = GetParam() == ChainFrame::Kind::fault;
  for (std::size_t bytes = 0;
       bytes + (has_text ? sample(GetParam()).message.size() : 0) < whole.size(); ++bytes)
    EXPECT_FALSE(decode_chain_frame(ByteSpan(whole).first(bytes)).has_value()) << bytes;
  ByteVector longer = whole;
  longer.push_back(0);
  EXPECT_EQ(decode_chain_frame(longer).has_value(), has_text);
}

TEST(ChainFrame, TravelsWithHalfTheBytesWhereThatIsAsked) {
  const ChainFrame frame = sample(ChainFrame::Kind::pass);
  const ByteVector bytes = encode(frame, Wire::f16);
  EXPECT_EQ(bytes.size() + 2 * frame.values.size(), encode(frame).size());
  const auto read = decode_chain_frame(bytes).value();
  for (std::size_t i = 0; i < frame.values.size(); ++i)
    EXPECT_NEAR(read.values[i], frame.values[i], std::abs(frame.values[i]) * 1e-3F);
  // Values that callers compare keep every bit.
  EXPECT_EQ(encode(sample(ChainFrame::Kind::logits), Wire::f16),
            encode(sample(ChainFrame::Kind::logits)));
}

TEST(ChainFrame, TravelsAsBytesWithAScaleForThirtyTwoWhereThatIsAsked) {
  std::mt19937 random(3);
  ChainFrame frame{.tokens = {1, 2}};
  for (int i = 0; i < 2 * 50; ++i)
    frame.values.push_back(std::normal_distribution<float>(0, i < 50 ? 1.0F : 40.0F)(random));
  frame.values[7] = 0;
  const ByteVector bytes = encode(frame, Wire::i8);
  EXPECT_EQ(bytes.size() + 4 * frame.values.size(),
            encode(frame).size() + frame.values.size() + 2 * 4);
  const auto read = decode_chain_frame(bytes);
  ASSERT_TRUE(read.has_value()) << read.error().message;
  ASSERT_EQ(read->values.size(), frame.values.size());
  for (std::size_t begin = 0; begin < frame.values.size(); begin += 32) {
    const std::size_t end = std::min<std::size_t>(begin + 32, frame.values.size());
    float largest = 0;
    for (std::size_t i = begin; i < end; ++i)
      largest = std::max(largest, std::abs(frame.values[i]));
    // The error bound is half a step, plus the rounding of the scale to f16 (2^-11) over at most
    // 127 steps.
    for (std::size_t i = begin; i < end; ++i)
      EXPECT_NEAR(read->values[i], frame.values[i], largest * (0.5F / 127 + 1.0F / 2048)) << i;
  }
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(decode_chain_frame(ByteSpan(bytes).first(size)).has_value()) << size;
  // A block of zeros decodes to zeros.
  frame.values.assign(100, 0.0F);
  EXPECT_EQ(decode_chain_frame(encode(frame, Wire::i8))->values, frame.values);
}

TEST(ChainFrame, TakesAnyBytesWithoutHarm) {
  std::mt19937 random(7);
  for (const ByteVector& whole :
       {encode(sample(ChainFrame::Kind::fault)), encode(sample(ChainFrame::Kind::pass), Wire::i8)})
    for (int round = 0; round < 20000; ++round) {
      ByteVector bytes = whole;
      for (int change = 0; change < 4; ++change)
        bytes[random() % bytes.size()] = static_cast<std::uint8_t>(random());
      bytes.resize(random() % (bytes.size() + 1));
      if (const auto read = decode_chain_frame(bytes)) {
        EXPECT_LE(read->values.size(), bytes.size());
      }
    }
}

}  // namespace
}  // namespace weft::llm
