// Kernels that read or write at indices. An index outside of its dimension reads the nearest
// element and writes nothing. If the indices are known before the run, the processor reports a
// wrong index.
#include <algorithm>

#include "engine/onnx/gpu/kernel.h"
#include "engine/onnx/gpu/narrow.h"
#include "engine/onnx/operators/walk.h"

namespace weft::onnx {
namespace {

// The most updates that all elements together may visit in loops.
constexpr std::int64_t visits_max = std::int64_t{1} << 30;

bool indices_fit(const Tensor& indices, std::int64_t length) {
  return !indices.has_bytes() || std::ranges::all_of(indices.integers(), [&](std::int64_t index) {
    return index >= -length && index < length;
  });
}

// Returns the statement that combines `value` with the variable `target_value`.
std::optional<std::string> joined_text(const std::string& how, ElementType type) {
  if (how == "none") return "target_value = value;";
  if (how == "max" || (type == ElementType::boolean && how == "add"))
    return "target_value = max(target_value, value);";
  if (how == "min" || (type == ElementType::boolean && how == "mul"))
    return "target_value = min(target_value, value);";
  if (how == "add") return "target_value = " + narrowed(type, "(target_value + value)") + ";";
  if (how == "mul") return "target_value = " + narrowed(type, "(target_value * value)") + ";";
  return std::nullopt;
}

// Each element of the result searches along the axis for the updates that write to the element, in
// order.
MaybeKernels scatter_elements_kernels(const Node& node, const Call& call) {
  const Tensor &x = call.input(0), &indices = call.input(1), &updates = call.input(2);
  const std::int64_t given = call.integer("axis", 0);
  const auto axis = static_cast<std::size_t>(given < 0 ? given + x.rank() : given);
  const auto join = joined_text(call.text("reduction", "none"), x.type());
  if (!join || !indices_fit(indices, x.shape()[axis])) return std::nullopt;
  KernelText text;
  const std::string data = text.input(node.inputs[0], x.type());
  const bool writes = updates.count() > 0;
  const std::string places = writes ? text.input(node.inputs[1], indices.type()) : "";
  const std::string values = writes ? text.input(node.inputs[2], updates.type()) : "";
  const std::string to = text.output(node.outputs[0], x.type());
  std::string body = weft::format("  var target_value = {}[i];\n", data);
  if (writes) {
    const Shape own = row_major_strides(x.shape()), inner = row_major_strides(indices.shape());
    body +=
        weft::format("  let here = i32(i / {}u % {}u);\n  var inside = true;\n  var base = 0u;\n",
                     own[axis], x.shape()[axis]);
    for (std::size_t d = 0; d < own.size(); ++d) {
      if (d == axis) continue;
      const std::string at = weft::format("(i / {}u % {}u)", own[d], x.shape()[d]);
      if (indices.shape()[d] < x.shape()[d])
        body += weft::format("  inside = inside && {} < {}u;\n", at, indices.shape()[d]);
      body += weft::format("  base += {} * {}u;\n", at, inner[d]);
    }
    body += weft::format(
        "  if (inside) {{\n    for (var k = 0u; k < {0}u; k++) {{\n"
        "      let place = base + k * {1}u;\n      var index = i32({2}[place]);\n"
        "      if (index < 0) {{ index += {3}; }}\n"
        "      if (index == here) {{ let value = {4}[place]; {5} }}\n    }}\n  }}\n",
        indices.shape()[axis], inner[axis], places, x.shape()[axis], values, *join);
  }
  body += weft::format("  {}[i] = target_value;\n", to);
  return std::vector{text.build(node.op, static_cast<std::uint64_t>(x.count()), body)};
}

// Returns statements that set `start`, the first element of the slice that row `row` of the indices
// names, and `inside`.
std::string slice_start(const Tensor& x, const Tensor& indices, std::int64_t batch,
                        const std::string& places, bool clamped) {
  const Shape own = row_major_strides(x.shape());
  const std::int64_t depth = indices.shape().back();
  std::string text = "  var start = 0u;\n  var inside = true;\n";
  if (batch > 0) {
    std::int64_t batches = 1;
    for (std::int64_t d = 0; d < batch; ++d) batches *= x.shape()[static_cast<std::size_t>(d)];
    text += weft::format("  start = row / {}u * {}u;\n",
                         std::max<std::int64_t>(1, indices.count() / depth / batches),
                         x.count() / batches);
  }
  for (std::int64_t d = 0; d < depth; ++d) {
    const auto dimension = static_cast<std::size_t>(batch + d);
    text += weft::format(
        "  {{\n    var index = i32({0}[row * {1}u + {2}u]);\n"
        "    if (index < 0) {{ index += {3}; }}\n",
        places, depth, d, x.shape()[dimension]);
    text += clamped ? weft::format("    index = clamp(index, 0, {});\n", x.shape()[dimension] - 1)
                    : weft::format("    inside = inside && index >= 0 && index < {};\n",
                                   x.shape()[dimension]);
    text += weft::format("    start += u32(index) * {}u;\n  }}\n", own[dimension]);
  }
  return text;
}

bool rows_fit(const Tensor& x, const Tensor& indices, std::int64_t batch) {
  if (!indices.has_bytes()) return true;
  const std::int64_t depth = indices.shape().back();
  const std::vector<std::int64_t> all = indices.integers();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::int64_t length =
        x.shape()[static_cast<std::size_t>(batch + static_cast<std::int64_t>(i) % depth)];
    if (all[i] < -length || all[i] >= length) return false;
  }
  return true;
}

std::int64_t slice_length(const Tensor& x, std::int64_t first) {
  std::int64_t length = 1;
  for (std::int64_t d = first; d < x.rank(); ++d) length *= x.shape()[static_cast<std::size_t>(d)];
  return length;
}

MaybeKernels gather_nd_kernels(const KernelContext& context, const Node& node, const Call& call) {
  const Tensor &x = call.input(0), &indices = call.input(1);
  const std::int64_t batch = call.integer("batch_dims", 0);
  const Tensor& out = context.tensor(node.outputs[0]);
  if (out.count() == 0) return std::vector<Kernel>();
  if (!rows_fit(x, indices, batch)) return std::nullopt;
  KernelText text;
  const std::string data = text.input(node.inputs[0], x.type());
  const std::string places = text.input(node.inputs[1], indices.type());
  const std::string to = text.output(node.outputs[0], x.type());
  const std::int64_t length = slice_length(x, batch + indices.shape().back());
  std::string body = weft::format("  let row = i / {}u;\n", length);
  body += slice_start(x, indices, batch, places, true);
  body += weft::format("  {}[i] = {}[start + i % {}u];\n", to, data, length);
  return std::vector{text.build(node.op, static_cast<std::uint64_t>(out.count()), body)};
}

// If updates replace elements, a thread writes each update. If updates are combined, each element
// of the result visits all updates in order, so that sums are the same in every run.
MaybeKernels scatter_nd_kernels(const Node& node, const Call& call) {
  const Tensor &x = call.input(0), &indices = call.input(1), &updates = call.input(2);
  const std::string how = call.text("reduction", "none");
  const auto join = joined_text(how, x.type());
  if (!join || !rows_fit(x, indices, 0)) return std::nullopt;
  const std::int64_t depth = indices.shape().back();
  const std::int64_t rows = depth == 0 ? 0 : indices.count() / depth;
  const std::int64_t length = slice_length(x, depth);
  std::vector<Kernel> kernels;
  const bool alone = how == "none" || rows * length == 0;
  if (!alone && rows > visits_max / std::max<std::int64_t>(1, x.count())) return std::nullopt;
  KernelText text;
  const std::string data = text.input(node.inputs[0], x.type());
  if (alone) {
    const std::string to = text.output(node.outputs[0], x.type());
    kernels.push_back(text.build(node.op + " copy", static_cast<std::uint64_t>(x.count()),
                                 weft::format("  {}[i] = {}[i];\n", to, data)));
    if (rows * length == 0) return kernels;
    KernelText writes;
    const std::string places = writes.input(node.inputs[1], indices.type());
    const std::string values = writes.input(node.inputs[2], updates.type());
    const std::string target = writes.output(node.outputs[0], x.type());
    std::string body = weft::format("  let row = i / {}u;\n", length);
    body += slice_start(x, indices, 0, places, false);
    body +=
        weft::format("  if (inside) {{ {}[start + i % {}u] = {}[i]; }}\n", target, length, values);
    kernels.push_back(writes.build(node.op, static_cast<std::uint64_t>(rows * length), body));
    return kernels;
  }
  const std::string places = text.input(node.inputs[1], indices.type());
  const std::string values = text.input(node.inputs[2], updates.type());
  const std::string to = text.output(node.outputs[0], x.type());
  std::string body = weft::format(
      "  var target_value = {}[i];\n  let slice = i / {}u * {}u;\n"
      "  for (var row = 0u; row < {}u; row++) {{\n",
      data, length, length, rows);
  body += slice_start(x, indices, 0, places, false);
  body += weft::format(
      "  if (inside && start == slice) {{ let value = {}[row * {}u + i % {}u]; {} }}\n  }}\n",
      values, length, length, *join);
  body += weft::format("  {}[i] = target_value;\n", to);
  kernels.push_back(text.build(node.op, static_cast<std::uint64_t>(x.count()), body));
  return kernels;
}

}  // namespace

MaybeKernels scatter_kernels(const KernelContext& context, const Node& node) {
  if (node.op != "ScatterElements" && node.op != "ScatterND" && node.op != "GatherND")
    return std::nullopt;
  const CallOf call(context, node);
  if (node.op == "ScatterElements") return scatter_elements_kernels(node, *call);
  if (node.op == "ScatterND") return scatter_nd_kernels(node, *call);
  return gather_nd_kernels(context, node, *call);
}

}  // namespace weft::onnx
