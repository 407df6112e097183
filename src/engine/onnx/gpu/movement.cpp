// Kernels that move elements: copies with strides on both sides, and gathers.
#include "engine/onnx/operators/movement.h"

#include <algorithm>

#include "engine/onnx/gpu/kernel.h"
#include "engine/onnx/operators/walk.h"

namespace weft::onnx {
namespace {

struct StridedCopy {
  Shape shape;  // The shape of the elements that are copied.
  Shape from_strides;
  std::int64_t from_start = 0;
  Shape to_strides;
  std::int64_t to_start = 0;
};

std::optional<Kernel> copy_kernel(const KernelContext& context, const std::string& label,
                                  ValueId from, ValueId to, const StridedCopy& copy) {
  const std::int64_t count = element_count(copy.shape);
  if (count == 0) return std::nullopt;
  KernelText text;
  const ElementType type = context.tensor(from).type();
  const std::string in = text.input(from, type), out = text.output(to, type);
  const std::string body = weft::format(
      "  {}[{}] = {}[{}];\n", out, strided_index("i", copy.shape, copy.to_strides, copy.to_start),
      in, strided_index("i", copy.shape, copy.from_strides, copy.from_start));
  return text.build(label, static_cast<std::uint64_t>(count), body);
}

MaybeKernels gather_by(const KernelContext& context, const Node& node, const Shape& strides,
                       std::int64_t start) {
  const Tensor& out = context.tensor(node.outputs[0]);
  std::vector<Kernel> kernels;
  if (auto kernel = copy_kernel(context, node.op, node.inputs[0], node.outputs[0],
                                {.shape = out.shape(),
                                 .from_strides = strides,
                                 .from_start = start,
                                 .to_strides = row_major_strides(out.shape())}))
    kernels.push_back(std::move(*kernel));
  return kernels;
}

MaybeKernels transpose_kernels(const KernelContext& context, const Node& node, const Call& call) {
  const Tensor& x = call.input(0);
  std::vector<std::int64_t> order = call.integers("perm");
  if (order.empty())
    for (std::int64_t i = x.rank(); i-- > 0;) order.push_back(i);
  Shape strides;
  const Shape own = row_major_strides(x.shape());
  for (const std::int64_t axis : order)
    strides.push_back(own[static_cast<std::size_t>(axis < 0 ? axis + x.rank() : axis)]);
  return gather_by(context, node, strides, 0);
}

// The number of buffers that WebGPU guarantees for one kernel.
constexpr std::size_t bindings_promised = 8;

// A kernel with one thread for each element of the result, which finds the input that holds the
// element.
std::optional<Kernel> joined_kernel(const KernelContext& context, const Node& node,
                                    std::size_t axis) {
  const Tensor& out = context.tensor(node.outputs[0]);
  const AxisView whole(out.shape(), static_cast<std::int64_t>(axis));
  KernelText text;
  std::string body = weft::format(
      "  let after = i % {0}u;\n  let k = i / {0}u % {1}u;\n  let before = i / {2}u;\n",
      whole.after, whole.length, whole.after * whole.length);
  std::int64_t end = 0;
  std::vector<std::pair<std::string, std::int64_t>> parts;
  for (const ValueId id : node.inputs) {
    const Tensor& part = context.tensor(id);
    const std::int64_t length = part.shape()[axis];
    if (part.count() == 0) continue;
    const std::string element = weft::format("{}[(before * {}u + k - {}u) * {}u + after]",
                                             text.input(id, part.type()), length, end, whole.after);
    end += length;
    parts.emplace_back(element, end);
  }
  if (text.input_count() + 1 > bindings_promised) return std::nullopt;
  const std::string to = text.output(node.outputs[0], out.type());
  for (std::size_t p = 0; p < parts.size(); ++p)
    body += p + 1 < parts.size() ? weft::format("  if (k < {}u) {{ {}[i] = {}; return; }}\n",
                                                parts[p].second, to, parts[p].first)
                                 : weft::format("  {}[i] = {};\n", to, parts[p].first);
  return text.build(node.op, static_cast<std::uint64_t>(out.count()), body);
}

// Returns a kernel that copies several values into one value, in order.
Kernel copies_kernel(const KernelContext& context, const Node& node,
                     std::span<const std::pair<ValueId, StridedCopy>> copies) {
  KernelText text;
  const std::string out = text.output(node.outputs[0], context.tensor(node.outputs[0]).type());
  std::string body;
  std::uint64_t begin = 0;
  for (const auto& [from, copy] : copies) {
    const std::string in = text.input(from, context.tensor(from).type());
    const std::uint64_t end = begin + static_cast<std::uint64_t>(element_count(copy.shape));
    const std::string index = begin == 0 ? "i" : weft::format("(i - {}u)", begin);
    const std::string one = weft::format(
        "{}[{}] = {}[{}];", out, strided_index(index, copy.shape, copy.to_strides, copy.to_start),
        in, strided_index(index, copy.shape, copy.from_strides, copy.from_start));
    body += copies.size() == 1 ? weft::format("  {}\n", one)
                               : weft::format("  if (i < {}u) {{ {} return; }}\n", end, one);
    begin = end;
  }
  return text.build(node.op, begin, body);
}

std::size_t joined_axis(const Call& call, const Tensor& out) {
  const std::int64_t given = call.integer("axis", 1);
  return static_cast<std::size_t>(given < 0 ? given + out.rank() : given);
}

MaybeKernels concat_kernels(const KernelContext& context, const Node& node, const Call& call) {
  const std::size_t axis = joined_axis(call, context.tensor(node.outputs[0]));
  if (auto joined = joined_kernel(context, node, axis)) return std::vector{std::move(*joined)};
  return concat_copies(context, node, std::vector<bool>(node.inputs.size()));
}

MaybeKernels split_kernels(const KernelContext& context, const Node& node, const Call& call) {
  const Tensor& x = call.input(0);
  const Shape strides = row_major_strides(x.shape());
  const std::int64_t given = call.integer("axis", 0);
  const auto axis = static_cast<std::size_t>(given < 0 ? given + x.rank() : given);
  std::vector<Kernel> kernels;
  std::int64_t place = 0;
  for (const ValueId id : node.outputs) {
    if (id == no_value) return std::nullopt;
    const Shape& shape = context.tensor(id).shape();
    if (auto kernel = copy_kernel(context, node.op, node.inputs[0], id,
                                  {.shape = shape,
                                   .from_strides = strides,
                                   .from_start = place * strides[axis],
                                   .to_strides = row_major_strides(shape)}))
      kernels.push_back(std::move(*kernel));
    place += shape[axis];
  }
  return kernels;
}

// Kernels for gathers with indices of any rank.
MaybeKernels index_kernels(const KernelContext& context, const Node& node, const Call& call) {
  const Tensor &x = call.input(0), &indices = call.input(1);
  const Tensor& out = context.tensor(node.outputs[0]);
  const std::int64_t given = call.integer("axis", 0);
  const AxisView view(x.shape(), given < 0 ? given + x.rank() : given);
  if (out.count() == 0) return std::vector<Kernel>();
  // If an index is out of range, the processor runs the node and reports the error.
  if (indices.has_bytes()) {
    for (const std::int64_t index : indices.integers())
      if (index < -view.length || index >= view.length) return std::nullopt;
  }
  KernelText text;
  const std::string data = text.input(node.inputs[0], x.type());
  const std::string places = text.input(node.inputs[1], indices.type());
  const std::string to = text.output(node.outputs[0], x.type());
  const std::string body = weft::format(
      "  let after = i % {0}u;\n  let row = i / {0}u;\n"
      "  var index = i32({1}[row % {2}u]);\n  if (index < 0) {{ index += {3}; }}\n"
      "  let k = u32(clamp(index, 0, {3} - 1));\n"
      "  {4}[i] = {5}[(row / {2}u * {3}u + k) * {0}u + after];\n",
      view.after, places, indices.count(), view.length, to, data);
  return std::vector{text.build(node.op, static_cast<std::uint64_t>(out.count()), body)};
}

MaybeKernels gather_elements_kernels(const KernelContext& context, const Node& node,
                                     const Call& call) {
  const Tensor &x = call.input(0), &indices = call.input(1);
  const Tensor& out = context.tensor(node.outputs[0]);
  const std::int64_t given = call.integer("axis", 0);
  const auto axis = static_cast<std::size_t>(given < 0 ? given + x.rank() : given);
  if (out.count() == 0) return std::vector<Kernel>();
  if (indices.has_bytes()) {
    for (const std::int64_t index : indices.integers())
      if (index < -x.shape()[axis] || index >= x.shape()[axis]) return std::nullopt;
  }
  Shape strides = row_major_strides(x.shape());
  const std::int64_t along = strides[axis];
  strides[axis] = 0;
  KernelText text;
  const std::string data = text.input(node.inputs[0], x.type());
  const std::string places = text.input(node.inputs[1], indices.type());
  const std::string to = text.output(node.outputs[0], x.type());
  const std::string body = weft::format(
      "  var index = i32({0}[i]);\n  if (index < 0) {{ index += {1}; }}\n"
      "  {2}[i] = {3}[{4} + u32(clamp(index, 0, {1} - 1)) * {5}u];\n",
      places, x.shape()[axis], to, data, strided_index("i", out.shape(), strides), along);
  return std::vector{text.build(node.op, static_cast<std::uint64_t>(out.count()), body)};
}

MaybeKernels block_kernels(const KernelContext& context, const Node& node, const Call& call) {
  const Tensor& x = call.input(0);
  const Tensor& out = context.tensor(node.outputs[0]);
  const std::int64_t block = call.integer("blocksize", 1);
  StridedCopy copy;
  if (node.op == "DepthToSpace") {
    const std::int64_t n = x.shape()[0], c = out.shape()[1], h = x.shape()[2], w = x.shape()[3],
                       plane = h * w;
    const bool deep = call.text("mode", "DCR") == "DCR";
    copy.shape = {n, c, h, block, w, block};
    copy.from_strides = {c * block * block * plane,
                         deep ? plane : block * block * plane,
                         w,
                         deep ? block * c * plane : block * plane,
                         1,
                         deep ? c * plane : plane};
  } else {
    const std::int64_t n = x.shape()[0], c = x.shape()[1], h = out.shape()[2], w = out.shape()[3],
                       row = w * block;
    copy.shape = {n, block, block, c, h, w};
    copy.from_strides = {c * h * block * row, row, 1, h * block * row, block * row, block};
  }
  copy.to_strides = row_major_strides(copy.shape);
  std::vector<Kernel> kernels;
  if (auto kernel = copy_kernel(context, node.op, node.inputs[0], node.outputs[0], copy))
    kernels.push_back(std::move(*kernel));
  return kernels;
}

// Returns kernels for Pad. For each dimension, the source of each output position is computed when
// the kernel is made; -1 stands for the constant.
MaybeKernels pad_kernels(const KernelContext& context, const Node& node, const Call& call) {
  const Tensor& x = call.input(0);
  const Tensor& out = context.tensor(node.outputs[0]);
  if (call.optional_input(1) == nullptr || out.count() == 0 || out.rank() == 0) return std::nullopt;
  const auto given = call.integers_of(1);
  if (!given) return std::nullopt;
  const std::string mode = call.text("mode", "constant");
  std::vector<std::int64_t> axes;
  if (call.optional_input(3) != nullptr) {
    const auto named = call.integers_of(3);
    if (!named) return std::nullopt;
    axes = *named;
  } else {
    for (std::int64_t i = 0; i < x.rank(); ++i) axes.push_back(i);
  }
  Shape before(x.shape().size(), 0);
  for (std::size_t i = 0; i < axes.size(); ++i)
    before[static_cast<std::size_t>(axes[i] < 0 ? axes[i] + x.rank() : axes[i])] = (*given)[i];
  KernelText text;
  const std::string in = text.input(node.inputs[0], x.type());
  std::string filler = weft::format("{}(0)", storage_type(x.type()));
  if (const Tensor* value = call.optional_input(2); value != nullptr && mode == "constant") {
    const std::string constant = text.input(node.inputs[2], value->type());
    filler = constant + "[0]";
  }
  const std::string to = text.output(node.outputs[0], x.type());
  const Shape own = row_major_strides(x.shape()), outer = row_major_strides(out.shape());
  std::string body = "  var place = 0;\n  var inside = true;\n";
  for (std::size_t d = 0; d < outer.size(); ++d) {
    const std::int64_t size = x.shape()[d];
    if (size == 0) return std::nullopt;
    body += weft::format("  {{\n    var at = i32(i / {}u % {}u) - {};\n", outer[d], out.shape()[d],
                         before[d]);
    if (mode == "constant")
      body += weft::format("    if (at < 0 || at >= {0}) {{ inside = false; at = 0; }}\n", size);
    else if (mode == "edge")
      body += weft::format("    at = clamp(at, 0, {});\n", size - 1);
    else if (mode == "wrap")
      body += weft::format("    at = ((at % {0}) + {0}) % {0};\n", size);
    else if (size > 1)
      body += weft::format(
          "    at = ((at % {0}) + {0}) % {0};\n    at = select({0} - at, at, at < {1});\n",
          2 * (size - 1), size);
    else
      body += "    at = 0;\n";
    body += weft::format("    place += at * {};\n  }}\n", own[d]);
  }
  body += weft::format("  {}[i] = select({}, {}[u32(place)], inside);\n", to, filler, in);
  return std::vector{text.build(node.op, static_cast<std::uint64_t>(out.count()), body)};
}

MaybeKernels tile_kernels(const KernelContext& context, const Node& node, const Call& call) {
  const Tensor& x = call.input(0);
  const Tensor& out = context.tensor(node.outputs[0]);
  if (out.count() == 0) return std::vector<Kernel>();
  KernelText text;
  const std::string in = text.input(node.inputs[0], x.type());
  const std::string to = text.output(node.outputs[0], x.type());
  const Shape own = row_major_strides(x.shape()), outer = row_major_strides(out.shape());
  std::string from = "0u";
  for (std::size_t d = 0; d < outer.size(); ++d)
    from += weft::format(" + i / {}u % {}u % {}u * {}u", outer[d], out.shape()[d], x.shape()[d],
                         own[d]);
  return std::vector{text.build(node.op, static_cast<std::uint64_t>(out.count()),
                                weft::format("  {}[i] = {}[{}];\n", to, in, from))};
}

MaybeKernels triangle_kernels(const Node& node, const Call& call) {
  const Tensor& x = call.input(0);
  if (x.count() == 0) return std::vector<Kernel>();
  std::int64_t diagonal = 0;
  if (call.optional_input(1) != nullptr) {
    const auto k = call.integers_of(1);
    if (!k || k->size() != 1) return std::nullopt;
    diagonal = std::clamp<std::int64_t>((*k)[0], -(1 << 30), 1 << 30);
  }
  KernelText text;
  const std::string in = text.input(node.inputs[0], x.type());
  const std::string to = text.output(node.outputs[0], x.type());
  const std::int64_t columns = x.shape().back(), rows = x.shape()[x.shape().size() - 2];
  const std::string body = weft::format(
      "  let distance = i32(i % {0}u) - i32(i / {0}u % {1}u);\n"
      "  {2}[i] = select({3}(0), {4}[i], distance {5} {6});\n",
      columns, rows, to, storage_type(x.type()), in,
      call.integer("upper", 1) != 0 ? ">=" : "<=", diagonal);
  return std::vector{text.build(node.op, static_cast<std::uint64_t>(x.count()), body)};
}

}  // namespace

std::vector<Kernel> concat_copies(const KernelContext& context, const Node& node,
                                  const std::vector<bool>& left_out) {
  const Tensor& out = context.tensor(node.outputs[0]);
  const Shape strides = row_major_strides(out.shape());
  const std::size_t axis = joined_axis(*CallOf(context, node), out);
  std::vector<std::pair<ValueId, StridedCopy>> copies;
  std::int64_t place = 0;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const Shape& shape = context.tensor(node.inputs[i]).shape();
    if (!left_out[i] && element_count(shape) > 0)
      copies.emplace_back(node.inputs[i], StridedCopy{.shape = shape,
                                                      .from_strides = row_major_strides(shape),
                                                      .to_strides = strides,
                                                      .to_start = place * strides[axis]});
    place += shape[axis];
  }
  std::vector<Kernel> kernels;
  for (std::size_t first = 0; first < copies.size(); first += bindings_promised - 1)
    kernels.push_back(copies_kernel(
        context, node,
        std::span(copies).subspan(first, std::min(copies.size() - first, bindings_promised - 1))));
  return kernels;
}

MaybeKernels movement_kernels(const KernelContext& context, const Node& node) {
  const CallOf made(context, node);
  const Call& call = *made;
  if (node.op == "Transpose") return transpose_kernels(context, node, call);
  if (node.op == "Expand") {
    const Tensor& out = context.tensor(node.outputs[0]);
    return gather_by(context, node, broadcast_strides(call.input(0).shape(), out.shape()), 0);
  }
  if (node.op == "Slice") {
    const auto plan = plan_slice(call);
    if (!plan) return std::nullopt;
    return gather_by(context, node, plan->strides, plan->start);
  }
  if (node.op == "Concat") return concat_kernels(context, node, call);
  if (node.op == "Split") return split_kernels(context, node, call);
  if (node.op == "Gather") return index_kernels(context, node, call);
  if (node.op == "GatherElements") return gather_elements_kernels(context, node, call);
  if (node.op == "DepthToSpace" || node.op == "SpaceToDepth")
    return block_kernels(context, node, call);
  if (node.op == "Pad") return pad_kernels(context, node, call);
  if (node.op == "Tile" && call.input_count() == 2) return tile_kernels(context, node, call);
  if (node.op == "Trilu") return triangle_kernels(node, call);
  return std::nullopt;
}

}  // namespace weft::onnx
