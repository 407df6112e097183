// Describes the operators of ONNX that Weft supports: how each is called and how it is computed on
// a processor.
//
// A family of operators is one source file, which ends with its rows of the table. table.cpp joins
// the rows of all families.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "engine/onnx/operators/call.h"

namespace weft::onnx {

struct Operator {
  std::string_view name;
  Result<> (*run)(Call&);
  std::uint32_t inputs_min = 1;  // The first inputs_min inputs are always given.
  std::uint32_t inputs_max = 1;
  std::uint32_t outputs_max = 1;
  // The attributes as "NAME:KIND ...". Kinds are f (number), i (integer), s (text), t (tensor), F,
  // I and S (lists). An entry "to:is" declares an attribute that older versions have in another
  // kind.
  std::string_view attributes = "";
};
inline constexpr std::uint32_t any_number = 1u << 20;

// Returns the operator with this name, for any version that Weft reads, or null if Weft has no
// operator with this name.
[[nodiscard]] const Operator* find_operator(std::string_view name);
// Returns all operators, sorted by name.
[[nodiscard]] std::span<const Operator* const> all_operators();

// The operators of each family.
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
