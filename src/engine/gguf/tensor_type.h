// The element formats of ggml, with the number of elements and of bytes of a block.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace weft::gguf {

// The numbers are those of GGUF files. ggml has withdrawn the numbers that are missing.
enum class TensorType : std::uint32_t {
  f32 = 0,
  f16 = 1,
  q4_0 = 2,
  q4_1 = 3,
  q5_0 = 6,
  q5_1 = 7,
  q8_0 = 8,
  q8_1 = 9,
  q2_k = 10,
  q3_k = 11,
  q4_k = 12,
  q5_k = 13,
  q6_k = 14,
  q8_k = 15,
  iq2_xxs = 16,
  iq2_xs = 17,
  iq3_xxs = 18,
  iq1_s = 19,
  iq4_nl = 20,
  iq3_s = 21,
  iq2_s = 22,
  iq4_xs = 23,
  i8 = 24,
  i16 = 25,
  i32 = 26,
  i64 = 27,
  f64 = 28,
  iq1_m = 29,
  bf16 = 30,
  tq1_0 = 34,
  tq2_0 = 35,
  mxfp4 = 39,
  nvfp4 = 40,
  q1_0 = 41,
  q2_0 = 42,
};

struct TensorTypeInfo {
  TensorType type;
  std::string_view name;  // The name that ggml prints, in capitals: "Q4_K".
  std::uint32_t block_elements;
  std::uint32_t block_bytes;
};

// Returns nullptr if the number is not a TensorType.
[[nodiscard]] const TensorTypeInfo* find_tensor_type(std::uint32_t number);
[[nodiscard]] const TensorTypeInfo& info(TensorType type);
[[nodiscard]] inline std::string_view to_string(TensorType type) { return info(type).name; }

}  // namespace weft::gguf
