// Kernels whose result depends on an order of elements: the largest elements, the non-zero
// elements, the boxes that remain, and running sums.
#include "engine/onnx/gpu/bounded.h"
#include "engine/onnx/gpu/kernel.h"
#include "engine/onnx/gpu/narrow.h"
#include "engine/onnx/operators/walk.h"

namespace weft::onnx {
namespace {

// The most comparisons that finding an order by counting may take.
constexpr std::int64_t comparisons_max = std::int64_t{1} << 34;

// The thread of an element counts the elements that come before it in the order; the count is its
// place.
MaybeKernels top_k_kernels(const KernelContext& context, const Node& node, const Call& call) {
  const Tensor& x = call.input(0);
  const ValueId values = node.outputs[0];
  const ValueId places = node.outputs.size() > 1 ? node.outputs[1] : no_value;
  const Shape& shape = context.tensor(values != no_value ? values : places).shape();
  std::int64_t axis = call.integer("axis", -1);
  if (axis < 0) axis += x.rank();
  const AxisView view(x.shape(), axis);
  const std::int64_t k = shape[static_cast<std::size_t>(axis)];
  if (x.count() > comparisons_max / std::max<std::int64_t>(1, view.length)) return std::nullopt;
  KernelText text;
  const std::string in = text.input(node.inputs[0], x.type());
  const std::string_view word = storage_type(x.type());
  const char* sign = call.integer("largest", 1) != 0 ? ">" : "<";
  // NaN counts as the largest. With 16-bit floats, which store no NaN, the test compares x with
  // itself, because Mesa 26's lavapipe takes every widened float for NaN by its bits.
  const char* nan = context.halves ? "!(x == x)" : "(bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u";
  if (word == "f32")
    text.helper(weft::format(
        "fn is_nan(x: f32) -> bool {{ return {}; }}\n"
        "fn is_before(a: f32, b: f32) -> bool {{\n"
        "  if (is_nan(a) || is_nan(b)) {{ return {}; }}\n  return a {} b;\n}}\n",
        nan, sign[0] == '>' ? "is_nan(a) && !is_nan(b)" : "!is_nan(a) && is_nan(b)", sign));
  else
    text.helper(
        weft::format("fn is_before(a: {0}, b: {0}) -> bool {{ return a {1} b; }}\n", word, sign));
  std::string body = weft::format(
      "  let own = i / {0}u % {1}u;\n  let base = i / {2}u * {2}u + i % {0}u;\n"
      "  let mine = {3}[i];\n  var rank = 0u;\n"
      "  for (var k = 0u; k < {1}u; k++) {{\n    let other = {3}[base + k * {0}u];\n"
      "    if (is_before(other, mine) || (k < own && !is_before(mine, other))) {{ rank++; }}\n  "
      "}}\n"
      "  if (rank >= {4}u) {{ return; }}\n"
      "  let to = (i / {2}u * {4}u + rank) * {0}u + i % {0}u;\n",
      view.after, view.length, view.after * view.length, in, k);
  if (values != no_value) body += weft::format("  {}[to] = mine;\n", text.output(values, x.type()));
  if (places != no_value)
    body += weft::format("  {}[to] = i32(own);\n", text.output(places, ElementType::i64));
  return std::vector{text.build(node.op, static_cast<std::uint64_t>(x.count()), body)};
}

// A workgroup computes one row, 64 elements at a time.
MaybeKernels running_sum_kernels(const Node& node, const Call& call) {
  const Tensor& x = call.input(0);
  const auto axes = call.integers_of(1);
  if (!axes || axes->size() != 1 || x.count() == 0) return std::nullopt;
  const AxisView view(x.shape(), (*axes)[0] < 0 ? (*axes)[0] + x.rank() : (*axes)[0]);
  const bool exclusive = call.integer("exclusive", 0) != 0;
  const bool reverse = call.integer("reverse", 0) != 0;
  const std::string_view word = storage_type(x.type());
  KernelText text;
  const std::string in = text.input(node.inputs[0], x.type());
  const std::string to = text.output(node.outputs[0], x.type());
  std::string body = weft::format(
      "  let base = group / {0}u * {1}u + group % {0}u;\n  var carry = {2}(0);\n"
      "  for (var first = 0u; first < {3}u; first += 64u) {{\n    let step = first + lane;\n"
      "    let place = base + {4} * {0}u;\n    var here = {2}(0);\n"
      "    if (step < {3}u) {{ here = {5}[place]; }}\n"
      "    parts[lane] = here;\n    workgroupBarrier();\n"
      "    for (var d = 1u; d < 64u; d *= 2u) {{\n      var before = {2}(0);\n"
      "      if (lane >= d) {{ before = parts[lane - d]; }}\n      workgroupBarrier();\n"
      "      parts[lane] += before;\n      workgroupBarrier();\n    }}\n",
      view.after, view.after * view.length, word, view.length,
      reverse ? weft::format("({}u - step)", view.length - 1) : "step", in);
  const std::string sum =
      exclusive ? weft::format("carry + select({}(0), parts[max(lane, 1u) - 1u], lane > 0u)", word)
                : std::string("carry + parts[lane]");
  body += weft::format("    if (step < {}u) {{ {}[place] = {}; }}\n", view.length, to,
                       narrowed(x.type(), "(" + sum + ")"));
  body += "    carry += parts[63];\n    workgroupBarrier();\n  }\n";
  return std::vector{
      text.build_groups(node.op, static_cast<std::uint64_t>(view.before * view.after),
                        weft::format("var<workgroup> parts: array<{}, 64>;\n", word), body)};
}

// In the kernel, one workgroup visits all elements in order, 64 at a time. A running count gives
// the place of each element that is not zero.
MaybeKernels non_zero_kernels(const Node& node, const Call& call) {
  const Tensor& x = call.input(0);
  if (x.count() == 0 || x.rank() == 0) return std::nullopt;
  KernelText text;
  const std::string in = text.input(node.inputs[0], x.type());
  const std::string to = text.output(node.outputs[0], ElementType::i64);
  std::string body = weft::format(
      "  var carry = 0u;\n  for (var first = 0u; first < {0}u; first += 64u) {{\n"
      "    let k = first + lane;\n    var here = 0u;\n"
      "    if (k < {0}u) {{ here = select(0u, 1u, {1}[k] != {2}(0)); }}\n"
      "    parts[lane] = here;\n    workgroupBarrier();\n"
      "    for (var d = 1u; d < 64u; d *= 2u) {{\n      var before = 0u;\n"
      "      if (lane >= d) {{ before = parts[lane - d]; }}\n      workgroupBarrier();\n"
      "      parts[lane] += before;\n      workgroupBarrier();\n    }}\n"
      "    if (here == 1u) {{\n      let place = carry + parts[lane] - 1u;\n",
      x.count(), in, storage_type(x.type()));
  const Shape strides = row_major_strides(x.shape());
  for (std::size_t d = 0; d < strides.size(); ++d)
    body += weft::format("      {}[{}u + place] = i32(k / {}u % {}u);\n", to,
                         static_cast<std::int64_t>(d) * x.count(), strides[d], x.shape()[d]);
  body += weft::format(
      "    }}\n    carry += parts[63];\n    workgroupBarrier();\n  }}\n"
      "  if (lane == 0u) {{ {}[{}u] = i32(carry); }}\n",
      to, x.count() * x.rank());
  return std::vector{
      text.build_groups(node.op, 1, "var<workgroup> parts: array<u32, 64>;\n", body)};
}

// The area that two boxes (y1, x1, y2, x2) share, divided by the area that they cover together.
constexpr std::string_view overlap_text =
    "fn overlap(a: vec4f, b: vec4f) -> f32 {\n"
    "  let height = min(a.z, b.z) - max(a.x, b.x);\n"
    "  let width = min(a.w, b.w) - max(a.y, b.y);\n"
    "  if (height <= 0.0 || width <= 0.0) { return 0.0; }\n"
    "  let both = height * width;\n"
    "  let all = (a.z - a.x) * (a.w - a.y) + (b.z - b.x) * (b.w - b.y) - both;\n"
    "  return select(both / all, 0.0, all <= 0.0);\n}\n";

// A workgroup processes one class of an image. In each round its threads find the next best box and
// compare it with the boxes that are kept.
MaybeKernels suppression_kernels(const Node& node, const Call& call) {
  const auto bound = suppression_bound(call);
  if (!bound || bound->rows == 0) return std::nullopt;
  const Tensor &boxes = call.input(0), &scores = call.input(1);
  const std::int64_t count = boxes.shape()[1], classes = scores.shape()[1];
  KernelText text;
  const std::string box = text.input(node.inputs[0], boxes.type());
  const std::string score = text.input(node.inputs[1], scores.type());
  const std::string to = text.output(node.outputs[0], ElementType::i64);
  text.helper(overlap_text);
  const bool centred = call.integer("center_point_box", 0) != 0;
  text.helper(weft::format(
      "fn box_at(i: u32) -> vec4f {{\n"
      "  let c = vec4f({0}[i * 4u], {0}[i * 4u + 1u], {0}[i * 4u + 2u], {0}[i * 4u + 3u]);\n"
      "  return {1};\n}}\n",
      box,
      centred ? "vec4f(c.y - c.w / 2.0, c.x - c.z / 2.0, c.y + c.w / 2.0, c.x + c.z / 2.0)"
              : "vec4f(min(c.x, c.z), min(c.y, c.w), max(c.x, c.z), max(c.y, c.w))"));
  const std::string qualifies =
      bound->score_min
          ? weft::format("s > bitcast<f32>({}u)", std::bit_cast<std::uint32_t>(*bound->score_min))
          : std::string("true");
  const std::string body = weft::format(
      "  let image = group / {0}u;\n  let score_base = group * {1}u;\n"
      "  let box_base = image * {1}u;\n  let to = group * {2}u;\n"
      "  var kept = 0u;\n  var last_score = 0.0;\n  var last = {1}u;\n"
      "  for (var round = 0u; round < {1}u; round++) {{\n"
      "    var best = {1}u;\n    var best_score = 0.0;\n"
      "    for (var k = lane; k < {1}u; k += 64u) {{\n      let s = {3}[score_base + k];\n"
      "      let is_next = round == 0u || s < last_score || (s == last_score && k > last);\n"
      "      if ({4} && is_next && (best == {1}u || s > best_score)) {{ best = k; best_score = s; "
      "}}\n"
      "    }}\n"
      "    indices[lane] = best;\n    values[lane] = best_score;\n    workgroupBarrier();\n"
      "    for (var half = 32u; half > 0u; half /= 2u) {{\n      if (lane < half) {{\n"
      "        let other = indices[lane + half];\n        let value = values[lane + half];\n"
      "        let mine = indices[lane];\n"
      "        if (other < {1}u && (mine == {1}u || value > values[lane] || (value == values[lane] "
      "&& other < mine))) {{ indices[lane] = other; values[lane] = value; }}\n"
      "      }}\n      workgroupBarrier();\n    }}\n"
      "    let next = workgroupUniformLoad(&indices[0]);\n    last = next;\n"
      "    last_score = values[0];\n    if (next == {1}u) {{ break; }}\n"
      "    var clashes = 0u;\n    let candidate = box_at(box_base + next);\n"
      "    for (var k = lane; k < kept; k += 64u) {{\n"
      "      if (overlap(candidate, box_at(box_base + u32({5}[to + 1u + k]))) > "
      "bitcast<f32>({6}u)) {{ clashes = 1u; }}\n    }}\n"
      "    indices[lane] = clashes;\n    workgroupBarrier();\n"
      "    for (var half = 32u; half > 0u; half /= 2u) {{\n"
      "      if (lane < half) {{ indices[lane] |= indices[lane + half]; }}\n"
      "      workgroupBarrier();\n    }}\n"
      "    if (workgroupUniformLoad(&indices[0]) == 0u) {{\n"
      "      if (lane == 0u) {{ {5}[to + 1u + kept] = i32(next); }}\n      kept++;\n    }}\n"
      "    storageBarrier();\n    if (kept == {7}u) {{ break; }}\n  }}\n"
      "  if (lane == 0u) {{ {5}[to] = i32(kept); }}\n",
      classes, count, bound->rows + 1, score, qualifies, to,
      std::bit_cast<std::uint32_t>(bound->overlap_max), bound->rows);
  return std::vector{text.build_groups(
      node.op, static_cast<std::uint64_t>(boxes.shape()[0] * classes),
      "var<workgroup> indices: array<u32, 64>;\nvar<workgroup> values: array<f32, 64>;\n", body)};
}

}  // namespace

MaybeKernels selection_kernels(const KernelContext& context, const Node& node) {
  const CallOf call(context, node);
  if (node.op == "TopK") return top_k_kernels(context, node, *call);
  if (node.op == "CumSum") return running_sum_kernels(node, *call);
  if (node.op == "NonZero") return non_zero_kernels(node, *call);
  if (node.op == "NonMaxSuppression") return suppression_kernels(node, *call);
  return std::nullopt;
}

}  // namespace weft::onnx
