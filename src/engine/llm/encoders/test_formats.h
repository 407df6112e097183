// Small encoders with random weights in any format of the engine. Each encoder has a copy whose
// weights are f32 numbers with the same values. Their files are made in memory.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/gguf/half.h"
#include "engine/gguf/test_builder.h"
#include "engine/kernels/test_weights.h"
#include "engine/llm/encoders/encoder.h"

namespace weft::llm::test {

inline constexpr std::array weight_types = {
    gguf::TensorType::f32,  gguf::TensorType::f16,    gguf::TensorType::bf16,
    gguf::TensorType::q8_0, gguf::TensorType::q4_0,   gguf::TensorType::q4_1,
    gguf::TensorType::q5_0, gguf::TensorType::q5_1,   gguf::TensorType::q2_k,
    gguf::TensorType::q3_k, gguf::TensorType::q4_k,   gguf::TensorType::q5_k,
    gguf::TensorType::q6_k, gguf::TensorType::iq4_nl, gguf::TensorType::mxfp4};

// The name of the architecture, and the format.
using FormatCase = std::tuple<const char*, gguf::TensorType>;
inline std::string format_name(const testing::TestParamInfo<FormatCase>& row) {
  std::string name = std::get<0>(row.param);
  std::erase(name, '-');
  return name.append("_").append(gguf::to_string(std::get<1>(row.param)));
}

// An encoder without a file on disk: the bytes of its file, and the model in them.
struct MadeEncoder {
  std::string bytes;
  std::unique_ptr<gguf::MemorySource> source;
  gguf::File file;
  EncoderModel model;
};

class EncoderMaker {
 public:
  EncoderMaker(std::string architecture, gguf::TensorType type)
      : architecture_(std::move(architecture)), type_(type) {
    matrix("token_embd.weight", vocabulary);
    if (architecture_ == "bert") matrix("position_embd.weight", context);
    norm("token_embd_norm");
    for (std::uint32_t i = 0; i < layers; ++i) {
      const std::string block = "blk." + std::to_string(i) + ".";
      if (architecture_ == "bert") {
        for (const char* name : {"attn_q", "attn_k", "attn_v"})
          matrix(block + name + ".weight", width);
      } else {
        matrix(block + "attn_qkv.weight", 3 * width);
        matrix(block + "ffn_gate.weight", feed);
      }
      matrix(block + "attn_output.weight", width);
      norm(block + "attn_output_norm");
      matrix(block + "ffn_up.weight", feed);
      matrix(block + "ffn_down.weight", width, feed);
      norm(block + "layer_output_norm");
    }
  }
  // Makes the encoder. If `as_values` is true, its weights are the same values as f32.
  [[nodiscard]] std::unique_ptr<MadeEncoder> make(bool as_values) const {
    gguf::test::Builder builder;
    builder.text("general.architecture", architecture_);
    for (const auto& [key, value] :
         {std::pair{"block_count", layers}, std::pair{"embedding_length", width},
          std::pair{"feed_forward_length", feed}, std::pair{"attention.head_count", 4u},
          std::pair{"context_length", context}})
      builder.uint32(architecture_ + "." + key, value);
    builder.scalar(architecture_ + ".attention.layer_norm_epsilon", gguf::ValueType::float32,
                   1e-12f);
    std::string data;
    for (const Part& part : parts_) {
      const auto type = as_values || part.is_norm ? gguf::TensorType::f32 : part.matrix.type;
      builder.tensor(part.name, part.dimensions, type, data.size());
      if (type == part.matrix.type) {
        data.append(part.matrix.bytes.begin(), part.matrix.bytes.end());
      } else {
        data.append(reinterpret_cast<const char*>(part.matrix.values.data()),
                    part.matrix.values.size() * 4);
      }
      data.resize((data.size() + 31) / 32 * 32);
    }
    auto out = std::make_unique<MadeEncoder>();
    out->bytes = builder.bytes(data.size());
    std::memcpy(out->bytes.data() + out->bytes.size() - data.size(), data.data(), data.size());
    out->source = std::make_unique<gguf::MemorySource>(as_bytes(out->bytes));
    out->file = gguf::read_file(*out->source).value();
    out->model = read_encoder(out->file).value();
    return out;
  }
  static std::vector<std::vector<Token>> texts() {
    return {{5}, {1, 2, 3, 4, 5, 6, 7}, {60, 3, 31, 8, 8, 40, 2, 9, 13, 55, 22, 1, 0, 17}};
  }

 private:
  // The widths make every row a whole number of blocks in each format.
  static constexpr std::uint32_t width = 256, feed = 512, layers = 2, vocabulary = 64, context = 16;
  struct Part {
    std::string name;
    std::vector<std::uint64_t> dimensions;
    kernels::test::Matrix matrix;
    bool is_norm = false;
  };

  void matrix(std::string name, std::uint32_t rows, std::uint32_t columns = width) {
    kernels::test::Matrix made = kernels::test::random_matrix(type_, rows, columns);
    if (gguf::info(type_).block_elements == 1) {
      // Numbers of both signs, large enough for a layer to have an effect.
      std::normal_distribution<float> some(0, 0.1f);
      const std::size_t size = gguf::info(type_).block_bytes;
      for (std::size_t i = 0; i < made.values.size(); ++i) {
        const float value = some(random_);
        const std::uint16_t half = gguf::float_to_half(value);
        std::uint32_t bits = 0;
        std::memcpy(&bits, &value, 4);
        if (type_ == gguf::TensorType::f16) bits = half;
        if (type_ == gguf::TensorType::bf16) bits >>= 16;
        std::memcpy(made.bytes.data() + i * size, &bits, size);
      }
      EXPECT_TRUE(gguf::dequantize(type_, made.bytes, made.values));
    }
    parts_.push_back({std::move(name), {columns, rows}, std::move(made)});
  }
  void norm(const std::string& name) {
    for (const auto& [end, middle] : {std::pair{".weight", 1.0f}, std::pair{".bias", 0.0f}}) {
      std::normal_distribution<float> some(middle, 0.1f);
      kernels::test::Matrix made;
      for (std::uint32_t i = 0; i < width; ++i) made.values.push_back(some(random_));
      made.bytes.resize(width * 4);
      std::memcpy(made.bytes.data(), made.values.data(), made.bytes.size());
      parts_.push_back({name + end, {width}, std::move(made), true});
    }
  }

  const std::string architecture_;
  const gguf::TensorType type_;
  std::mt19937 random_{19};
  std::vector<Part> parts_;
};

}  // namespace weft::llm::test
