// Kernels of reductions: many elements become one. A workgroup of 64 threads computes one result:
// each thread reduces its share of the elements, and the threads combine their results in workgroup
// memory.
#include <bit>

#include "engine/onnx/gpu/kernel.h"
#include "engine/onnx/gpu/narrow.h"
#include "engine/onnx/operators/walk.h"

namespace weft::onnx {
namespace {

enum class Join : std::uint8_t { sum, product, largest, smallest };
struct ReductionText {
  Join join = Join::sum;
  std::string_view map = "x";  // Expression that is reduced.
  std::string_view finish = "total";
  bool floats_only = false;
};
std::optional<ReductionText> reduction_text(std::string_view op) {
  if (op == "ReduceSum") return ReductionText{};
  if (op == "ReduceMean" || op == "GlobalAveragePool")
    return ReductionText{.finish = "total / count"};
  if (op == "ReduceL1") return ReductionText{.map = "abs(x)"};
  if (op == "ReduceL2")
    return ReductionText{.map = "x * x", .finish = "sqrt(total)", .floats_only = true};
  if (op == "ReduceSumSquare") return ReductionText{.map = "x * x"};
  if (op == "ReduceLogSum") return ReductionText{.finish = "log(total)", .floats_only = true};
  if (op == "ReduceLogSumExp")
    return ReductionText{
        .map = "exp(x - shift)", .finish = "log(total) + shift", .floats_only = true};
  if (op == "ReduceProd") return ReductionText{.join = Join::product};
  if (op == "ReduceMax" || op == "GlobalMaxPool") return ReductionText{.join = Join::largest};
  if (op == "ReduceMin") return ReductionText{.join = Join::smallest};
  return std::nullopt;
}

// Returns the result of reducing no elements.
std::string start_of(Join join, ElementType type) {
  const std::string_view word = storage_type(type);
  if (join == Join::sum) return weft::format("{}(0)", word);
  if (join == Join::product) return weft::format("{}(1)", word);
  const bool largest = join == Join::largest;
  switch (type) {
    case ElementType::f32:
    case ElementType::f16:  // WGSL has no constant for infinity.
      return weft::format("bitcast<f32>({}u | (lane & 0u))", largest ? 0xff800000u : 0x7f800000u);
    case ElementType::boolean:
      return largest ? "0u" : "1u";
    case ElementType::u8:
      return largest ? "0u" : "255u";
    case ElementType::u16:
      return largest ? "0u" : "65535u";
    case ElementType::u32:
      return largest ? "0u" : "4294967295u";
    case ElementType::i8:
      return largest ? "-128" : "127";
    case ElementType::i16:
      return largest ? "-32768" : "32767";
    default:
      return largest ? "(-2147483647 - 1)" : "2147483647";
  }
}
std::string joined(Join join, std::string_view a, std::string_view b) {
  switch (join) {
    case Join::sum:
      return weft::format("{} + {}", a, b);
    case Join::product:
      return weft::format("{} * {}", a, b);
    case Join::largest:
      return weft::format("max({}, {})", a, b);
    default:
      return weft::format("min({}, {})", a, b);
  }
}
// Returns the WGSL function that combines the results of the threads of a workgroup.
std::string team_function(std::string_view name, Join join, std::string_view word) {
  return weft::format(
      "fn {0}(value: {1}, lane: u32) -> {1} {{\n  parts[lane] = value;\n  workgroupBarrier();\n"
      "  for (var half = 32u; half > 0u; half /= 2u) {{\n"
      "    if (lane < half) {{ parts[lane] = {2}; }}\n    workgroupBarrier();\n  }}\n"
      "  let total = parts[0];\n  workgroupBarrier();\n  return total;\n}}\n",
      name, word, joined(join, "parts[lane]", "parts[lane + half]"));
}

std::optional<std::vector<bool>> reduced_dimensions(const Node& node, const Call& call) {
  const Tensor& x = call.input(0);
  std::vector<bool> reduced(x.shape().size());
  if (node.op.starts_with("Global")) {
    for (std::size_t d = 2; d < reduced.size(); ++d) reduced[d] = true;
    return reduced;
  }
  std::vector<std::int64_t> axes = call.integers("axes");
  if (call.optional_input(1) != nullptr) {
    const auto given = call.integers_of(1);
    if (!given) return std::nullopt;
    axes = *given;
  }
  reduced.assign(reduced.size(), axes.empty() && call.integer("noop_with_empty_axes", 0) == 0);
  for (const std::int64_t axis : axes)
    reduced[static_cast<std::size_t>(axis < 0 ? axis + x.rank() : axis)] = true;
  return reduced;
}

// True if a sum of `count` integers cannot wrap around. A mean of integers needs this, because it
// is the sum divided and truncated.
bool sum_fits(ElementType type, std::int64_t count) {
  const std::int64_t largest = type == ElementType::u8 || type == ElementType::i8     ? 1 << 8
                               : type == ElementType::u16 || type == ElementType::i16 ? 1 << 16
                                                                                      : 1 << 30;
  return count <= (1 << 30) / largest;
}

}  // namespace

MaybeKernels reduction_kernels(const KernelContext& context, const Node& node) {
  const auto how = reduction_text(node.op);
  if (!how) return std::nullopt;
  const CallOf call(context, node);
  const Tensor& x = call->input(0);
  const ElementType type = x.type();
  const auto reduced = reduced_dimensions(node, *call);
  if (!reduced || (how->floats_only && !is_float(type))) return std::nullopt;
  const Shape own = row_major_strides(x.shape());
  Shape kept, kept_strides, inner, inner_strides;
  for (std::size_t d = 0; d < reduced->size(); ++d) {
    ((*reduced)[d] ? inner : kept).push_back(x.shape()[d]);
    ((*reduced)[d] ? inner_strides : kept_strides).push_back(own[d]);
  }
  const std::int64_t count = element_count(inner);
  if (how->finish.contains("count") && !is_float(type) && !sum_fits(type, count))
    return std::nullopt;
  const std::string_view word = storage_type(type);
  KernelText text;
  const std::string in = text.input(node.inputs[0], type);
  const std::string out = text.output(node.outputs[0], type);
  const auto each = [&](std::string_view statement) {
    return weft::format("  for (var k = lane; k < {}u; k += 64u) {{ let x = {}[base + {}]; {} }}\n",
                        count, in, strided_index("k", inner, inner_strides), statement);
  };
  std::string body = weft::format("  let base = {};\n  let count = {}({});\n  var total = {};\n",
                                  strided_index("group", kept, kept_strides), word, count,
                                  start_of(how->join, type));
  std::string declarations = weft::format("var<workgroup> parts: array<{}, 64>;\n", word);
  declarations += team_function("team", how->join, word);
  // Exponentials are relative to the largest element, so that they never overflow.
  if (how->map.contains("shift")) {
    declarations += team_function("team_largest", Join::largest, word);
    body += "  var largest = bitcast<f32>(0xff7fffffu);\n" + each("largest = max(largest, x);") +
            "  let shift = team_largest(largest, lane);\n";
  }
  std::string map(how->map);
  if (word == "u32" && map == "abs(x)") map = "x";
  body += each(weft::format("total = {};", joined(how->join, "total", map)));
  body += weft::format("  total = team(total, lane);\n  if (lane == 0u) {{ {}[group] = {}; }}\n",
                       out, narrowed(type, std::string(how->finish)));
  return std::vector{text.build_groups(node.op, static_cast<std::uint64_t>(element_count(kept)),
                                       declarations, body)};
}

}  // namespace weft::onnx
