#include "engine/onnx/gpu/ranges.h"

#include <algorithm>
#include <limits>

#include "engine/onnx/gpu/settings.h"

namespace weft::onnx {
namespace {

using Range = IntegerRange;
using MaybeRange = std::optional<Range>;
constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();

// Returns the range of a type; nullopt for i64, whose values must be proven.
MaybeRange range_of_type(ElementType type) {
  switch (type) {
    case ElementType::boolean:
      return Range{0, 1};
    case ElementType::u8:
      return Range{0, 255};
    case ElementType::i8:
      return Range{-128, 127};
    case ElementType::u16:
      return Range{0, 65535};
    case ElementType::i16:
      return Range{-32768, 32767};
    case ElementType::i32:
      return Range{std::numeric_limits<std::int32_t>::min(),
                   std::numeric_limits<std::int32_t>::max()};
    case ElementType::u32:
      return Range{0, std::numeric_limits<std::uint32_t>::max()};
    default:
      return std::nullopt;
  }
}

Range joined(const Range& a, const Range& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}
MaybeRange sum(const Range& a, const Range& b) {
  Range out;
  if (__builtin_add_overflow(a.low, b.low, &out.low) ||
      __builtin_add_overflow(a.high, b.high, &out.high))
    return std::nullopt;
  return out;
}
MaybeRange product(const Range& a, const Range& b) {
  Range out{most, least};
  for (const std::int64_t x : {a.low, a.high})
    for (const std::int64_t y : {b.low, b.high}) {
      std::int64_t value = 0;
      if (__builtin_mul_overflow(x, y, &value)) return std::nullopt;
      out.low = std::min(out.low, value);
      out.high = std::max(out.high, value);
    }
  return out;
}
MaybeRange negated(const Range& a) {
  if (a.low == least) return std::nullopt;
  return Range{-a.high, -a.low};
}
Range magnitude(const Range& a) {
  const std::int64_t high = std::max(a.high, a.low == least ? most : -a.low);
  return {
      a.low <= 0 && a.high >= 0 ? 0 : std::min(std::abs(std::max(a.low, -most)), std::abs(a.high)),
      high};
}

class Prover {
 public:
  Prover(const Graph& graph, const Inference& inference) : inference_(inference) {
    ranges.resize(graph.values.size());
    for (ValueId id = 0; id < ranges.size(); ++id) {
      const auto& value = inference.values[id];
      if (!value || is_float(value->type())) continue;
      ranges[id] = range_of_type(value->type());
      if (ranges[id] || !value->has_bytes() || value->count() == 0) {
        if (value->count() == 0) ranges[id] = Range{0, 0};
        continue;
      }
      Range known{most, least};
      for (const std::int64_t element : value->integers())
        known = joined(known, {element, element});
      ranges[id] = known;
    }
  }

  void prove(const Node& node) {
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      const ValueId id = node.outputs[i];
      if (id == no_value || ranges[id]) continue;
      const auto& value = inference_.values[id];
      // If the shape of an output is not known, its type is i64: only NonZero and NonMaxSuppression
      // have such outputs.
      if (value && value->type() != ElementType::i64) continue;
      ranges[id] = of(node, i);
    }
  }

  std::vector<MaybeRange> ranges;

 private:
  MaybeRange in(const Node& node, std::size_t i) const {
    if (i >= node.inputs.size() || node.inputs[i] == no_value) return std::nullopt;
    return ranges[node.inputs[i]];
  }
  std::int64_t count(const Node& node, std::size_t i) const {
    const auto& value = inference_.values[node.inputs[i]];
    return value ? std::max<std::int64_t>(1, value->count()) : most;
  }
  // Returns the range that contains the values of all inputs from `first` on that are not settings.
  MaybeRange all(const Node& node, std::size_t first = 0, std::size_t step = 1) const {
    MaybeRange out;
    for (std::size_t i = first; i < node.inputs.size(); i += step) {
      if (node.inputs[i] == no_value || is_setting(node, i)) continue;
      const MaybeRange here = ranges[node.inputs[i]];
      if (!here) return std::nullopt;
      out = out ? joined(*out, *here) : *here;
    }
    return out;
  }

  MaybeRange of(const Node& node, std::size_t output) const {
    const std::string& op = node.op;
    static constexpr std::string_view moves[] = {
        "Identity", "Reshape", "Flatten",      "Squeeze",      "Unsqueeze", "Transpose", "Slice",
        "Concat",   "Split",   "Expand",       "Tile",         "Trilu",     "Max",       "Min",
        "Cast",     "Dropout", "DepthToSpace", "SpaceToDepth", "ReduceMax", "ReduceMin"};
    if (std::ranges::contains(moves, op)) return all(node);
    if (op == "ArgMax" || op == "ArgMin" || op == "NonZero" || op == "NonMaxSuppression")
      return Range{-1, std::numeric_limits<std::int32_t>::max()};
    if (op == "TopK") return output == 0 ? in(node, 0) : Range{0, count(node, 0)};
    if (op == "MaxPool") return Range{-1, count(node, 0)};
    if (op == "Shape" || op == "Size") return Range{0, std::numeric_limits<std::int32_t>::max()};
    if (op == "Gather" || op == "GatherElements" || op == "GatherND") return in(node, 0);
    if (op == "Where") return all(node, 1);
    if (op == "OneHot") return in(node, 2);
    if (op == "Range") {
      const MaybeRange start = in(node, 0), limit = in(node, 1);
      return start && limit ? MaybeRange(joined(*start, *limit)) : std::nullopt;
    }
    if (op == "ConstantOfShape") {
      const auto found = node.attributes.find("value");
      if (found == node.attributes.end()) return Range{0, 0};
      const auto* value = std::get_if<Tensor>(&found->second);
      if (value == nullptr || value->count() != 1) return std::nullopt;
      const std::int64_t number = value->integers()[0];
      return Range{number, number};
    }
    const MaybeRange a = in(node, 0), b = in(node, 1);
    if (!a) return std::nullopt;
    if (op == "Pad") {
      const MaybeRange filler = in(node, 2);
      return joined(*a, filler.value_or(Range{0, 0}));
    }
    if (op == "Relu")
      return Range{std::max<std::int64_t>(0, a->low), std::max<std::int64_t>(0, a->high)};
    if (op == "Sign") return Range{-1, 1};
    if (op == "Neg") return negated(*a);
    if (op == "Abs") return magnitude(*a);
    if (op == "Clip") return all(node);
    if (op == "ScatterElements" || op == "ScatterND") {
      const auto kind = node.attributes.find("reduction");
      const std::string how =
          kind == node.attributes.end() ? "none" : std::get<std::string>(kind->second);
      const MaybeRange updates = in(node, 2);
      if (!updates || how == "add" || how == "mul") return std::nullopt;
      return joined(*a, *updates);
    }
    if (op == "CumSum" || op == "ReduceSum" || op == "ReduceL1") {
      const std::int64_t elements = count(node, 0);
      return product(op == "ReduceL1" ? magnitude(*a) : joined(*a, {0, 0}), {0, elements});
    }
    if (op == "ReduceSumSquare") {
      const MaybeRange squares = product(*a, *a);
      return squares ? product(joined(*squares, {0, 0}), {0, count(node, 0)}) : std::nullopt;
    }
    if (!b) return std::nullopt;
    if (op == "Add" || (op == "Sum" && node.inputs.size() == 2)) return sum(*a, *b);
    if (op == "Sub") {
      const MaybeRange other = negated(*b);
      return other ? sum(*a, *other) : std::nullopt;
    }
    if (op == "Mul" || op == "PRelu") return product(*a, *b);
    if (op == "Div") {
      const Range size = magnitude(*a);
      return Range{-size.high, size.high};
    }
    if (op == "Mod") {
      const Range size = magnitude(*b);
      return Range{-size.high, size.high};
    }
    return std::nullopt;
  }

  const Inference& inference_;
};

}  // namespace

bool IntegerRange::fits_i32() const {
  return low >= std::numeric_limits<std::int32_t>::min() &&
         high <= std::numeric_limits<std::int32_t>::max();
}

std::optional<IntegerRange> widened_range(const Tensor& tensor) {
  if (is_float(tensor.type())) return std::nullopt;
  if (const auto whole = range_of_type(tensor.type())) return whole;
  std::int64_t low = 0, high = 0;
  for (const std::int64_t element : tensor.values<std::int64_t>()) {
    low = std::min(low, element);
    high = std::max(high, element);
  }
  for (const int bits : {7, 15, 31}) {
    const std::int64_t bound = std::int64_t{1} << bits;
    if (low >= -bound && high < bound) return Range{-bound, bound - 1};
  }
  return Range{least, most};
}

std::vector<std::optional<IntegerRange>> integer_ranges(
    const Graph& graph, const Inference& inference,
    std::span<const std::optional<IntegerRange>> inputs) {
  Prover prover(graph, inference);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i]) prover.ranges[graph.input_ids[i]] = inputs[i];
  for (const Node& node : graph.nodes) prover.prove(node);
  return std::move(prover.ranges);
}

}  // namespace weft::onnx
