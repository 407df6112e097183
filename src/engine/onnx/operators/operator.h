// What Weft knows of an operator of ONNX: how it is called and how it is computed on a processor.
//
// A family of operators is one source, which ends with its rows of the table; table.cpp joins them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "engine/onnx/operators/call.h"

namespace weft::onnx {

struct Operator {
  std::string_view name;
  Result<> (*run)(Call&);
  std::uint32_t inputs_min = 1;  // These are always given.
  std::uint32_t inputs_max = 1;
  std::uint32_t outputs_max = 1;
  // "NAME:KIND ..."; kinds are f (number), i (integer), s (text), t (tensor), F, I and S (lists);
  // "to:is" for an attribute that older versions have in another kind.
  std::string_view attributes = "";
};
inline constexpr std::uint32_t any_number = 1u << 20;

// The operator of that name, of any version that Weft reads; null if it has none.
[[nodiscard]] const Operator* find_operator(std::string_view name);
// All of them, by name.
[[nodiscard]] std::span<const Operator* const> all_operators();

// The families.
[[nodiscard]] std::span<const Operator> unary_operators();
[[nodiscard]] std::span<const Operator> binary_operators();
[[nodiscard]] std::span<const Operator> reduction_operators();
[[nodiscard]] std::span<const Operator> normalisation_operators();
[[nodiscard]] std::span<const Operator> shape_operators();
[[nodiscard]] std::span<const Operator> movement_operators();
[[nodiscard]] std::span<const Operator> indexing_operators();
[[nodiscard]] std::span<const Operator> generator_operators();
[[nodiscard]] std::span<const Operator> convolution_operators();
[[nodiscard]] std::span<const Operator> pooling_operators();
[[nodiscard]] std::span<const Operator> resize_operators();
[[nodiscard]] std::span<const Operator> product_operators();
[[nodiscard]] std::span<const Operator> quantisation_operators();
[[nodiscard]] std::span<const Operator> attention_operators();
[[nodiscard]] std::span<const Operator> selection_operators();

}  // namespace weft::onnx
