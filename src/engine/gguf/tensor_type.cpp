#include "engine/gguf/tensor_type.h"

#include <algorithm>
#include <array>

#include "common/base/check.h"

namespace weft::gguf {
namespace {

constexpr std::array<TensorTypeInfo, 35> types = {{
    {TensorType::f32, "F32", 1, 4},
    {TensorType::f16, "F16", 1, 2},
    {TensorType::q4_0, "Q4_0", 32, 18},
    {TensorType::q4_1, "Q4_1", 32, 20},
    {TensorType::q5_0, "Q5_0", 32, 22},
    {TensorType::q5_1, "Q5_1", 32, 24},
    {TensorType::q8_0, "Q8_0", 32, 34},
    {TensorType::q8_1, "Q8_1", 32, 36},
    {TensorType::q2_k, "Q2_K", 256, 84},
    {TensorType::q3_k, "Q3_K", 256, 110},
    {TensorType::q4_k, "Q4_K", 256, 144},
    {TensorType::q5_k, "Q5_K", 256, 176},
    {TensorType::q6_k, "Q6_K", 256, 210},
    {TensorType::q8_k, "Q8_K", 256, 292},
    {TensorType::iq2_xxs, "IQ2_XXS", 256, 66},
    {TensorType::iq2_xs, "IQ2_XS", 256, 74},
    {TensorType::iq3_xxs, "IQ3_XXS", 256, 98},
    {TensorType::iq1_s, "IQ1_S", 256, 50},
    {TensorType::iq4_nl, "IQ4_NL", 32, 18},
    {TensorType::iq3_s, "IQ3_S", 256, 110},
    {TensorType::iq2_s, "IQ2_S", 256, 82},
    {TensorType::iq4_xs, "IQ4_XS", 256, 136},
    {TensorType::i8, "I8", 1, 1},
    {TensorType::i16, "I16", 1, 2},
    {TensorType::i32, "I32", 1, 4},
    {TensorType::i64, "I64", 1, 8},
    {TensorType::f64, "F64", 1, 8},
    {TensorType::iq1_m, "IQ1_M", 256, 56},
    {TensorType::bf16, "BF16", 1, 2},
    {TensorType::tq1_0, "TQ1_0", 256, 54},
    {TensorType::tq2_0, "TQ2_0", 256, 66},
    {TensorType::mxfp4, "MXFP4", 32, 17},
    {TensorType::nvfp4, "NVFP4", 64, 36},
    {TensorType::q1_0, "Q1_0", 128, 18},
    {TensorType::q2_0, "Q2_0", 64, 18},
}};

}  // namespace

const TensorTypeInfo* find_tensor_type(std::uint32_t number) {
  const auto found =
      std::ranges::find(types, static_cast<TensorType>(number), &TensorTypeInfo::type);
  return found == types.end() ? nullptr : &*found;
}

const TensorTypeInfo& info(TensorType type) {
  const TensorTypeInfo* found = find_tensor_type(static_cast<std::uint32_t>(type));
  check(found != nullptr, "a TensorType has a row in the table");
  return *found;
}

}  // namespace weft::gguf
