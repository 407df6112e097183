#include <algorithm>
#include <vector>

#include "engine/onnx/operators/operator.h"

namespace weft::onnx {
namespace {

std::vector<const Operator*> sorted_table() {
  std::vector<const Operator*> table;
  for (const auto family :
       {unary_operators(), binary_operators(), reduction_operators(), normalisation_operators(),
        shape_operators(), movement_operators(), indexing_operators(), generator_operators(),
        convolution_operators(), pooling_operators(), resize_operators(), product_operators(),
        quantisation_operators(), attention_operators(), selection_operators()})
    for (const Operator& row : family) table.push_back(&row);
  std::ranges::sort(table, {}, &Operator::name);
  return table;
}

}  // namespace

std::span<const Operator* const> all_operators() {
  static const std::vector<const Operator*> table = sorted_table();
  return table;
}

const Operator* find_operator(std::string_view name) {
  const auto table = all_operators();
  const auto found = std::ranges::lower_bound(table, name, {}, &Operator::name);
  return found != table.end() && (*found)->name == name ? *found : nullptr;
}

}  // namespace weft::onnx
