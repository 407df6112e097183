// Kernels of ConstantOfShape, Range, OneHot, Shape, Size and Dropout (which at inference copies its
// input).
#include <algorithm>

#include "engine/onnx/gpu/kernel.h"
#include "engine/onnx/operators/walk.h"

namespace weft::onnx {
namespace {

std::string number_text(const Tensor& value) {
  const auto words = storage_of(value);
  if (!words) return {};
  return weft::format("bitcast<{}>({}u)", storage_type(value.type()), (*words)[0]);
}

MaybeKernels filled_kernels(const Node& node, const Call& call, const Tensor& out) {
  const Tensor* value = call.tensor("value");
  const std::string number = value == nullptr ? std::string("0.0") : number_text(*value);
  if (number.empty()) return std::nullopt;
  KernelText text;
  const std::string to = text.output(node.outputs[0], out.type());
  return std::vector{text.build(node.op, static_cast<std::uint64_t>(out.count()),
                                weft::format("  {}[i] = {};\n", to, number))};
}

MaybeKernels range_kernels(const Node& node, const Call& call, const Tensor& out) {
  const Tensor &start = call.input(0), &delta = call.input(2);
  if (!start.has_bytes() || !delta.has_bytes()) return std::nullopt;
  const std::string first = number_text(start), step = number_text(delta);
  if (first.empty() || step.empty()) return std::nullopt;
  KernelText text;
  const std::string to = text.output(node.outputs[0], out.type());
  return std::vector{text.build(
      node.op, static_cast<std::uint64_t>(out.count()),
      weft::format("  {}[i] = {} + {}(i) * {};\n", to, first, storage_type(out.type()), step))};
}

// Kernels for Shape and Size as outputs of the graph; the numbers are known when the kernel is
// made.
MaybeKernels known_kernels(const Node& node, const Call& call, const Tensor& out) {
  const Shape& shape = call.input(0).shape();
  std::vector<std::uint32_t> words;
  if (node.op == "Size") {
    words.push_back(static_cast<std::uint32_t>(call.input(0).count()));
  } else {
    const auto bound = [&](std::int64_t place) {
      const auto rank = static_cast<std::int64_t>(shape.size());
      return std::clamp<std::int64_t>(place < 0 ? place + rank : place, 0, rank);
    };
    const std::int64_t begin = bound(call.integer("start", 0));
    const std::int64_t end = bound(call.integer("end", static_cast<std::int64_t>(shape.size())));
    for (std::int64_t d = begin; d < end; ++d)
      words.push_back(static_cast<std::uint32_t>(shape[static_cast<std::size_t>(d)]));
  }
  KernelText text;
  const std::string from = text.input(
      KernelInput{.value = no_value,
                  .data = std::make_shared<const std::vector<std::uint32_t>>(std::move(words))},
      ElementType::i64);
  const std::string to = text.output(node.outputs[0], out.type());
  return std::vector{text.build(node.op, static_cast<std::uint64_t>(out.count()),
                                weft::format("  {}[i] = {}[i];\n", to, from))};
}

MaybeKernels one_hot_kernels(const Node& node, const Call& call, const Tensor& out) {
  const Tensor &indices = call.input(0), &values = call.input(2);
  std::int64_t axis = call.integer("axis", -1);
  if (axis < 0) axis += out.rank();
  const AxisView view(out.shape(), axis);
  KernelText text;
  const std::string places = text.input(node.inputs[0], indices.type());
  const std::string choices = text.input(node.inputs[2], values.type());
  const std::string to = text.output(node.outputs[0], out.type());
  // A row whose index is out of range has no hot element.
  const std::string body = weft::format(
      "  let k = i32(i / {0}u % {1}u);\n  var index = i32({2}[i / {3}u * {0}u + i % {0}u]);\n"
      "  if (index < 0) {{ index += {1}; }}\n  {4}[i] = select({5}[0], {5}[1], index == k);\n",
      view.after, view.length, places, view.after * view.length, to, choices);
  return std::vector{text.build(node.op, static_cast<std::uint64_t>(out.count()), body)};
}

// Copies the input, and makes a mask that marks no element as dropped.
MaybeKernels dropout_kernels(const KernelContext& context, const Node& node, const Call& call) {
  const Tensor& x = call.input(0);
  std::vector<Kernel> kernels;
  const auto count = static_cast<std::uint64_t>(x.count());
  if (node.outputs[0] != no_value) {
    KernelText text;
    const std::string in = text.input(node.inputs[0], x.type());
    const std::string to = text.output(node.outputs[0], x.type());
    kernels.push_back(text.build(node.op, count, weft::format("  {}[i] = {}[i];\n", to, in)));
  }
  if (node.outputs.size() > 1 && node.outputs[1] != no_value) {
    const ElementType type = context.tensor(node.outputs[1]).type();
    KernelText text;
    const std::string mask = text.output(node.outputs[1], type);
    kernels.push_back(text.build(node.op + " mask", count,
                                 weft::format("  {}[i] = {}(1);\n", mask, storage_type(type))));
  }
  return kernels;
}

}  // namespace

MaybeKernels generator_kernels(const KernelContext& context, const Node& node) {
  if (node.outputs[0] == no_value && node.op != "Dropout") return std::nullopt;
  const CallOf call(context, node);
  if (node.op == "Dropout") return dropout_kernels(context, node, *call);
  if (node.op != "ConstantOfShape" && node.op != "Range" && node.op != "OneHot" &&
      node.op != "Shape" && node.op != "Size")
    return std::nullopt;
  const Tensor& out = context.tensor(node.outputs[0]);
  if (node.op == "ConstantOfShape") return filled_kernels(node, *call, out);
  if (node.op == "Range") return range_kernels(node, *call, out);
  if (node.op == "OneHot") return one_hot_kernels(node, *call, out);
  return known_kernels(node, *call, out);
}

}  // namespace weft::onnx
