// A file that is rounded while it is read has the bytes that llama.cpp's quantizer writes for it:
// the same tensors in Q8_0, block for block, and all other tensors unchanged.
#include "engine/gguf/rounded_weights.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "common/base/test_data.h"
#include "engine/gguf/dequantize.h"
#include "engine/gguf/mapped_file.h"

namespace weft::gguf {
namespace {

Tensor tensor(std::string name, TensorType type, std::uint32_t dimensions, std::uint64_t columns) {
  Tensor out{.name = std::move(name), .type = type, .dimension_count = dimensions};
  out.dimensions[0] = columns;
  if (dimensions > 1) out.dimensions[1] = 3;
  return out;
}

TEST(RoundedWeights, AreTheMatricesThatTheFormatRounds) {
  for (const TensorType wide : {TensorType::f32, TensorType::f16, TensorType::bf16}) {
    EXPECT_TRUE(is_rounded_to_q8_0(tensor("blk.0.attn_q.weight", wide, 2, 64)));
    EXPECT_TRUE(is_rounded_to_q8_0(tensor("token_embd.weight", wide, 2, 64)));
    EXPECT_TRUE(is_rounded_to_q8_0(tensor("output.weight", wide, 2, 64)));
    EXPECT_TRUE(is_rounded_to_q8_0(tensor("blk.0.ffn_up_exps.weight", wide, 3, 64)));
    EXPECT_FALSE(is_rounded_to_q8_0(tensor("blk.0.attn_q.weight", wide, 2, 48))) << "no blocks";
    EXPECT_FALSE(is_rounded_to_q8_0(tensor("output_norm.weight", wide, 1, 64)));
    EXPECT_FALSE(is_rounded_to_q8_0(tensor("blk.0.attn_q.bias", wide, 2, 64)));
    EXPECT_FALSE(is_rounded_to_q8_0(tensor("blk.0.ffn_gate_inp.weight", wide, 2, 64)));
    EXPECT_FALSE(is_rounded_to_q8_0(tensor("blk.0.ssm_conv1d.weight", wide, 2, 64)));
  }
  EXPECT_FALSE(is_rounded_to_q8_0(tensor("output.weight", TensorType::q8_0, 2, 64)));
  EXPECT_FALSE(is_rounded_to_q8_0(tensor("output.weight", TensorType::q4_0, 2, 64)));
}

TEST(RoundedWeights, OfABlockAreTheNearestMultiplesOfItsScale) {
  std::vector<float> values(64, 0.0F);
  for (int i = 0; i < 32; ++i) values[i] = static_cast<float>(i - 16) * 127 / 16;
  ByteVector blocks(68);

  round_to_q8_0(values, blocks);

  EXPECT_EQ(blocks[0] | blocks[1] << 8, 0x3C00) << "the scale is 1";
  for (int i = 0; i < 32; ++i)
    EXPECT_EQ(static_cast<std::int8_t>(blocks[2 + i]), std::lround(values[i])) << i;
  for (int i = 34; i < 68; ++i) EXPECT_EQ(blocks[i], 0) << "a block of zeros";
}

TEST(RoundedWeights, OfNumbersThatAreNotFiniteAreStillBytes) {
  std::vector<float> values(32, 1.0F);
  values[3] = std::numeric_limits<float>::infinity();
  values[4] = std::numeric_limits<float>::quiet_NaN();
  ByteVector blocks(34);
  round_to_q8_0(values, blocks);
  EXPECT_EQ(blocks[2 + 3], 0);
}

class RoundedPair : public testing::TestWithParam<const char*> {};

// The two files were written by llama.cpp's tools from one model.
TEST_P(RoundedPair, IsBitForBitWhatTheQuantizerWrites) {
  const std::string name = GetParam();
  const auto wide = weft::test::find_data("models/" + name + "-f16.gguf"),
             narrow = weft::test::find_data("models/" + name + "-q8_0.gguf");
  if (!wide || !narrow) GTEST_SKIP() << weft::test::missing_data("models/" + name);
  const auto source = MappedFile::open(wide->string()).value(),
             expected = MappedFile::open(narrow->string()).value();
  const RoundedFile rounded = rounded_file(read_file(*source).value()).value();
  const RoundedSource from(rounded, *source);
  const File other = read_file(*expected).value();

  ASSERT_EQ(rounded.file.tensors.size(), other.tensors.size());
  std::size_t matrices = 0;
  for (const Tensor& theirs : other.tensors) {
    const Tensor* const ours = rounded.file.find_tensor(theirs.name);
    ASSERT_NE(ours, nullptr) << theirs.name;
    ASSERT_EQ(ours->type, theirs.type) << theirs.name;
    ASSERT_EQ(ours->bytes, theirs.bytes) << theirs.name;
    matrices += theirs.type == TensorType::q8_0 ? 1 : 0;
    ByteVector bytes(ours->bytes);
    ASSERT_TRUE(from.read(ours->offset, bytes).has_value());
    const ByteSpan theirs_bytes = *expected->view(theirs.offset, theirs.bytes);
    EXPECT_TRUE(std::ranges::equal(bytes, theirs_bytes)) << theirs.name;
    EXPECT_EQ(from.view(ours->offset, ours->bytes).has_value(), ours->type != TensorType::q8_0);
  }
  EXPECT_GT(matrices, 8U);
  EXPECT_LT(rounded.file.file_bytes, source->bytes());
}
INSTANTIATE_TEST_SUITE_P(Models, RoundedPair,
                         testing::Values("tiny-llama-chat", "tiny-qwen2-chat", "tiny-qwen35-chat"),
                         [](const testing::TestParamInfo<const char*>& row) {
                           std::string name = row.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(RoundedSource, ReadsAnyRangeOfATensorAndNoOther) {
  const auto path = weft::test::find_data("models/tiny-llama-chat-f16.gguf");
  if (!path) GTEST_SKIP() << weft::test::missing_data("models/tiny-llama-chat-f16.gguf");
  const auto source = MappedFile::open(path->string()).value();
  const RoundedFile rounded = rounded_file(read_file(*source).value()).value();
  const RoundedSource from(rounded, *source);
  const Tensor& tensor = *rounded.file.find_tensor("token_embd.weight");
  ByteVector whole(tensor.bytes);
  ASSERT_TRUE(from.read(tensor.offset, whole).has_value());

  for (const auto& [first, count] : {std::pair<std::size_t, std::size_t>{0, 1},
                                     {33, 2},
                                     {34, 34},
                                     {5, 1000},
                                     {tensor.bytes - 7, 7},
                                     {tensor.bytes, 0}}) {
    ByteVector part(count);
    ASSERT_TRUE(from.read(tensor.offset + first, part).has_value()) << first;
    EXPECT_TRUE(std::ranges::equal(part, ByteSpan(whole).subspan(first, count))) << first;
  }
  ByteVector beyond(8);
  EXPECT_FALSE(from.read(tensor.offset + tensor.bytes - 7, beyond).has_value());
  EXPECT_FALSE(from.read(from.bytes(), beyond).has_value());
  EXPECT_FALSE(from.read(0, beyond).has_value()) << "the header";
}

TEST(RoundedSource, IsNotMadeOfAFileThatIsNarrowAlready) {
  const auto path = weft::test::find_data("models/tiny-llama-chat-q8_0.gguf");
  if (!path) GTEST_SKIP() << weft::test::missing_data("models/tiny-llama-chat-q8_0.gguf");
  const auto source = MappedFile::open(path->string()).value();
  const auto rounded = rounded_file(read_file(*source).value());
  ASSERT_FALSE(rounded.has_value());
  EXPECT_EQ(rounded.error().code, ErrorCode::unsupported);
}

}  // namespace
}  // namespace weft::gguf
