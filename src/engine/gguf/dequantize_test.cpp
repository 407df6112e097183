// Tests that blocks become the values that the formats define: equal to ggml's bit for bit, and
// close to the weights that were quantized.
#include "engine/gguf/dequantize.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "common/base/test_data.h"
#include "common/json/json.h"
#include "engine/gguf/file.h"
#include "engine/gguf/half.h"
#include "engine/gguf/mapped_file.h"

namespace weft::gguf {
namespace {

std::vector<float> values_of(TensorType type, ByteSpan blocks) {
  std::vector<float> values(blocks.size() / info(type).block_bytes * info(type).block_elements);
  const auto done = dequantize(type, blocks, values);
  EXPECT_TRUE(done) << done.error().message;
  return values;
}

TEST(Half, EveryPatternIsItsValue) {
  EXPECT_EQ(half_to_float(0x3C00), 1.0f);
  EXPECT_EQ(half_to_float(0xC000), -2.0f);
  EXPECT_EQ(half_to_float(0x7BFF), 65504.0f);
  EXPECT_EQ(half_to_float(0x0001), 0x1p-24f);
  EXPECT_EQ(half_to_float(0x03FF), 0x1p-14f - 0x1p-24f);
  EXPECT_EQ(half_to_float(0x0400), 0x1p-14f);
  EXPECT_TRUE(std::signbit(half_to_float(0x8000)));
  EXPECT_EQ(half_to_float(0xFC00), -INFINITY);
  EXPECT_TRUE(std::isnan(half_to_float(0x7E01)));
  EXPECT_EQ(bfloat_to_float(0x3FC0), 1.5f);
}

TEST(Dequantize, HandMadeBlocks) {
  // The block has the scale 0.5 (0x3800), then the quants.
  ByteVector q8 = {0x00, 0x38};
  for (int i = 0; i < 32; ++i) q8.push_back(static_cast<std::uint8_t>(i - 16));
  ByteVector q4 = {0x00, 0x38};
  for (int i = 0; i < 16; ++i) q4.push_back(static_cast<std::uint8_t>(i | ((15 - i) << 4)));
  ByteVector q5 = {0x00, 0x38, 0x01,
                   0x00, 0x00, 0x80};  // The fifth bit is set for elements 0 and 31.
  q5.resize(22);

  const auto from_q8 = values_of(TensorType::q8_0, q8);
  const auto from_q4 = values_of(TensorType::q4_0, q4);
  const auto from_q5 = values_of(TensorType::q5_0, q5);

  for (int i = 0; i < 32; ++i) EXPECT_EQ(from_q8[i], 0.5f * static_cast<float>(i - 16));
  for (int i = 0; i < 16; ++i) {
    EXPECT_EQ(from_q4[i], 0.5f * static_cast<float>(i - 8));
    EXPECT_EQ(from_q4[16 + i], 0.5f * static_cast<float>(7 - i));
  }
  for (int i = 0; i < 32; ++i) EXPECT_EQ(from_q5[i], i == 0 || i == 31 ? 0.0f : -8.0f);
}

TEST(Dequantize, EveryFormatIsBitForBitThatOfGgml) {
  const std::string text =
      weft::test::read_bytes(weft::test::find_data("data/blocks/blocks.json").value());
  const auto cases = json::parse(text).value().array().value();
  ASSERT_EQ(cases.size(), 36u);
  for (const json::Value& row : cases) {
    const auto object = row.object({"type", "block", "values"}).value();
    const std::string name = object.get("type").value().string().value();
    const ByteVector block = from_hex(object.get("block").value().string().value()).value();
    const ByteVector expected = from_hex(object.get("values").value().string().value()).value();
    TensorType type{};
    for (std::uint32_t number = 0; number < 64; ++number)
      if (const auto* about = find_tensor_type(number); about != nullptr && about->name == name)
        type = about->type;

    const auto values = values_of(type, block);

    ASSERT_EQ(values.size() * sizeof(float), expected.size()) << name;
    for (std::size_t i = 0; i < values.size(); ++i) {
      std::uint32_t bits = 0;
      std::memcpy(&bits, expected.data() + i * sizeof bits, sizeof bits);
      ASSERT_EQ(std::bit_cast<std::uint32_t>(values[i]), bits) << name << ", element " << i;
    }
  }
}

TEST(Dequantize, RefusesWhatItCannot) {
  std::vector<float> out(32);
  const ByteVector bytes(34);

  EXPECT_EQ(dequantize(TensorType::iq1_s, bytes, out).error(),
            (Error{ErrorCode::unsupported, "The weight format IQ1_S is not supported."}));
  EXPECT_EQ(dequantize(TensorType::q8_0, ByteSpan(bytes).first(33), out).error().message,
            "33 bytes of Q8_0 are not 32 elements.");
  EXPECT_EQ(dequantize(TensorType::q8_0, bytes, std::span(out).first(31)).error().message,
            "34 bytes of Q8_0 are not 31 elements.");
}

// Bounds of the error of each format. A value differs by at most half a step of its sub-block, and
// a step is at most the range of the sub-block (here that of the whole block of 256, which is
// generous) divided by the number of levels. The six-bit scales of the K formats add a little. The
// bound must detect a wrong order, sign or scale, whose error is as large as the range.
struct FormatBound {
  TensorType type;
  double relative_rms;  // RMS of the difference over the RMS of the f16 weights.
};
constexpr FormatBound bounds[] = {{TensorType::q8_0, 0.01}, {TensorType::q6_k, 0.03},
                                  {TensorType::q5_k, 0.06}, {TensorType::q5_1, 0.06},
                                  {TensorType::q5_0, 0.07}, {TensorType::q4_k, 0.11},
                                  {TensorType::q4_1, 0.11}, {TensorType::q4_0, 0.14}};

class QuantizedModel : public testing::TestWithParam<std::string> {};

TEST_P(QuantizedModel, LiesNearTheWeightsItWasMadeOf) {
  const std::string family = GetParam().substr(0, GetParam().find("-chat"));
  const std::string name = "models/" + GetParam() + ".gguf",
                    original_name = "models/" + family + "-chat-f16.gguf";
  const auto path = weft::test::find_data(name),
             original_path = weft::test::find_data(original_name);
  if (!path) GTEST_SKIP() << weft::test::missing_data(name);
  if (!original_path) GTEST_SKIP() << weft::test::missing_data(original_name);
  const auto source = MappedFile::open(path->string()).value(),
             original_source = MappedFile::open(original_path->string()).value();
  const File file = read_file(*source).value(), original = read_file(*original_source).value();
  int compared = 0;
  for (const Tensor& tensor : file.tensors) {
    const Tensor* other = original.find_tensor(tensor.name);
    ASSERT_NE(other, nullptr) << tensor.name;
    ASSERT_EQ(tensor.dimensions, other->dimensions) << tensor.name;

    const auto values = values_of(tensor.type, source->view(tensor.offset, tensor.bytes).value());
    const auto exact =
        values_of(other->type, original_source->view(other->offset, other->bytes).value());

    double difference = 0, size = 0;
    for (std::size_t i = 0; i < exact.size(); ++i) {
      difference += std::pow(static_cast<double>(values[i]) - exact[i], 2);
      size += std::pow(static_cast<double>(exact[i]), 2);
    }
    double bound = 0;
    for (const FormatBound& row : bounds)
      if (row.type == tensor.type) bound = row.relative_rms;
    EXPECT_LE(std::sqrt(difference), bound * std::sqrt(size))
        << tensor.name << " as " << to_string(tensor.type);
    compared += bound > 0;
  }
  EXPECT_GT(compared, 0);
}

INSTANTIATE_TEST_SUITE_P(Tiny, QuantizedModel,
                         testing::Values("tiny-llama-chat-q8_0", "tiny-llama-chat-q4_0",
                                         "tiny-llama-chat-q4_1", "tiny-llama-chat-q5_0",
                                         "tiny-llama-chat-q5_1", "tiny-llama-chat-q4_k_m",
                                         "tiny-llama-chat-q5_k_m", "tiny-llama-chat-q6_k",
                                         "tiny-qwen2-chat-q4_k_m", "tiny-qwen2-chat-q8_0",
                                         "tiny-qwen35-chat-q4_k_m", "tiny-qwen35-chat-q8_0"),
                         [](const auto& row) {
                           std::string name = row.param;
                           for (char& c : name)
                             if (c == '-') c = '_';
                           return name;
                         });

}  // namespace
}  // namespace weft::gguf
