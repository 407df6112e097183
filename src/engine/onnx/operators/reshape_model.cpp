#include "engine/onnx/operators/reshape_model.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/onnx/operators/prepare.h"
#include "engine/onnx/operators/walk.h"

namespace weft::onnx {
namespace {

// Returns the new target of a reshape. Dimensions are grouped so that a group of the input and the
// corresponding group of the output have the same number of elements, and each output group changes
// as its input group does. Returns nullopt if a dimension that changes is cut into several
// dimensions.
std::optional<Shape> followed_target(const Shape& old_in, const Shape& new_in,
                                     const Shape& old_out) {
  Shape target = old_out;
  std::size_t i = 0, o = 0;
  while (o < old_out.size() || i < old_in.size()) {
    const std::size_t first_i = i, first_o = o;
    std::int64_t in = i < old_in.size() ? old_in[i++] : 1;
    std::int64_t out = o < old_out.size() ? old_out[o++] : 1;
    while (in != out) {
      if (in < out && i < old_in.size())
        in *= old_in[i++];
      else if (out < in && o < old_out.size())
        out *= old_out[o++];
      else
        return std::nullopt;
    }
    std::int64_t changed = 1;
    bool same = true;
    for (std::size_t d = first_i; d < i; ++d) {
      changed *= new_in[d];
      same = same && old_in[d] == new_in[d];
    }
    if (same) continue;
    // A group with equal dimensions on both sides takes the new sizes one by one.
    if (i - first_i == o - first_o &&
        std::equal(old_in.begin() + static_cast<std::ptrdiff_t>(first_i),
                   old_in.begin() + static_cast<std::ptrdiff_t>(i),
                   old_out.begin() + static_cast<std::ptrdiff_t>(first_o))) {
      for (std::size_t d = 0; d < i - first_i; ++d) target[first_o + d] = new_in[first_i + d];
      continue;
    }
    if (o - first_o != 1) return std::nullopt;
    target[first_o] = changed;
  }
  return target;
}

// Returns `old` with the size `size` along an axis if its values are equal or grow evenly along the
// axis.
std::optional<Tensor> extended(const Tensor& old, std::size_t axis, std::int64_t size) {
  const AxisView view(old.shape(), static_cast<std::int64_t>(axis));
  Shape shape = old.shape();
  shape[axis] = size;
  auto made = Tensor::create(old.type(), shape);
  if (!made || !is_float(old.type()) || view.length < 2) return std::nullopt;
  std::vector<float> values(static_cast<std::size_t>(made->count()));
  for (std::int64_t b = 0; b < view.before; ++b)
    for (std::int64_t a = 0; a < view.after; ++a) {
      const auto at = [&](std::int64_t k) {
        return old.number((b * view.length + k) * view.after + a);
      };
      const double start = at(0);
      const double slope = (at(view.length - 1) - start) / static_cast<double>(view.length - 1);
      for (std::int64_t k = 0; k < view.length; ++k) {
        const double expected = start + slope * static_cast<double>(k);
        if (!(std::abs(at(k) - expected) <= 1e-4 + 1e-5 * std::abs(expected))) return std::nullopt;
      }
      for (std::int64_t k = 0; k < size; ++k)
        values[static_cast<std::size_t>((b * size + k) * view.after + a)] =
            static_cast<float>(start + slope * static_cast<double>(k));
    }
  store_floats(*made, values);
  return std::move(*made);
}

class Reshaper {
 public:
  Reshaper(Graph graph, std::vector<Tensor> shapes)
      : out_{.graph = std::move(graph), .changes = {}}, shapes_(std::move(shapes)) {}

  Result<Reshaped> run() {
    Graph& graph = out_.graph;
    WEFT_ASSIGN(auto before, input_shapes(graph));
    WEFT_ASSIGN(old_, infer(graph, std::move(before)));
    if (shapes_.size() != graph.inputs.size())
      return fail(ErrorCode::invalid_argument, "The model takes {} inputs; {} are given.",
                  graph.inputs.size(), shapes_.size());
    new_.resize(graph.values.size());
    for (std::size_t i = 0; i < shapes_.size(); ++i) {
      graph.inputs[i].shape.emplace();
      for (const std::int64_t size : shapes_[i].shape())
        graph.inputs[i].shape->push_back({.size = size, .symbol = {}});
      new_[graph.input_ids[i]] = shapes_[i].without_bytes();
    }
    for (Node& node : graph.nodes) WEFT_OK(follow(node));
    return std::move(out_);
  }

 private:
  // Returns the value `id` in its new size, or null if it is not given or not known.
  const Tensor* now(ValueId id) const {
    if (id == no_value) return nullptr;
    if (new_[id]) return &*new_[id];
    const auto& constant = out_.graph.values[id].constant;
    return constant ? &*constant : nullptr;
  }
  const Tensor* constant(const Node& node, std::size_t input) const {
    if (input >= node.inputs.size() || node.inputs[input] == no_value) return nullptr;
    const auto& value = out_.graph.values[node.inputs[input]].constant;
    return value ? &*value : nullptr;
  }
  // Gives one input of one node a new constant. The old constant stays, because other nodes may
  // read it.
  void replace(Node& node, std::size_t input, Tensor tensor, std::string_view what) {
    const std::string& name = out_.graph.name(node.inputs[input]);
    out_.changes.push_back(
        weft::format("Node '{}' ({}): {} '{}' was {} and is {}.", node.name, node.op, what, name,
                     to_string(constant(node, input)->shape()), to_string(tensor.shape())));
    const auto id = static_cast<ValueId>(out_.graph.values.size());
    out_.graph.values.push_back(
        {.name = weft::format("{}_reshaped_{}", name, id), .constant = std::move(tensor)});
    new_.emplace_back();
    old_.values.emplace_back();
    node.inputs[input] = id;
  }
  void replace_integers(Node& node, std::size_t input, const std::vector<std::int64_t>& values) {
    const std::string& name = out_.graph.name(node.inputs[input]);
    const std::vector<std::int64_t> before = constant(node, input)->integers();
    if (before == values) return;
    out_.changes.push_back(weft::format("Node '{}' ({}): '{}' was {} and is {}.", node.name,
                                        node.op, name, to_string(before), to_string(values)));
    const auto id = static_cast<ValueId>(out_.graph.values.size());
    const Tensor& old = *constant(node, input);
    out_.graph.values.push_back({.name = weft::format("{}_reshaped_{}", name, id),
                                 .constant = Tensor::of<std::int64_t>(old.shape(), values)});
    new_.emplace_back();
    old_.values.emplace_back();
    node.inputs[input] = id;
  }
  [[nodiscard]] std::unexpected<Error> stuck(const Node& node, std::string_view why) const {
    return fail(ErrorCode::unsupported,
                "Node '{}' ({}): {}; export the model for the size that is "
                "wanted.",
                node.name, node.op, why);
  }

  Result<> follow(Node& node) {
    const ValueId first = node.inputs.empty() ? no_value : node.inputs[0];
    const Tensor* before =
        first == no_value || !old_.values[first] ? nullptr : &*old_.values[first];
    const Tensor* after = now(first);
    const bool changed = before != nullptr && after != nullptr && before->shape() != after->shape();
    if (changed && node.op == "Reshape") WEFT_OK(follow_reshape(node, *before, *after));
    if (changed && node.op == "Resize" && constant(node, 3) != nullptr &&
        constant(node, 3)->count() == before->rank()) {
      std::vector<std::int64_t> sizes = constant(node, 3)->integers();
      for (std::size_t d = 0; d < sizes.size(); ++d)
        if (before->shape()[d] > 0) sizes[d] = sizes[d] * after->shape()[d] / before->shape()[d];
      replace_integers(node, 3, sizes);
    }
    if (changed && node.op == "Slice" && constant(node, 2) != nullptr) follow_slice(node, *before);
    if (node.op == "Add" || node.op == "Sub" || node.op == "Mul" || node.op == "Div")
      WEFT_OK(follow_operands(node));
    std::vector<const Tensor*> given;
    for (const ValueId id : node.inputs) {
      given.push_back(now(id));
      if (id != no_value && given.back() == nullptr)
        return stuck(node, "a shape before it is known only when it runs");
    }
    auto outputs = run_node(out_.graph, node, given, true);
    if (!outputs) return pass(std::move(outputs), "while the model takes its new sizes");
    // Small tensors that carry shapes are computed if all inputs are known.
    const bool known = std::ranges::all_of(
        given, [](const Tensor* tensor) { return tensor == nullptr || tensor->has_bytes(); });
    if (known) {
      outputs = run_node(out_.graph, node, given, false);
      if (!outputs) return pass(std::move(outputs), "while the model takes its new sizes");
    }
    for (std::size_t i = 0; i < node.outputs.size(); ++i)
      if (node.outputs[i] != no_value) new_[node.outputs[i]] = std::move((*outputs)[i]);
    return {};
  }

  Result<> follow_reshape(Node& node, const Tensor& before, const Tensor& after) {
    const Tensor* target = constant(node, 1);
    const auto& out = old_.values[node.outputs[0]];
    if (target == nullptr || !out) return {};
    const auto followed = followed_target(before.shape(), after.shape(), out->shape());
    std::vector<std::int64_t> sizes = target->integers();
    if (!followed || followed->size() != sizes.size()) {
      // A target with a size of -1 stays, because it may still be valid.
      if (std::ranges::contains(sizes, -1)) return {};
      return stuck(node, "one dimension that changes is cut into several");
    }
    for (std::size_t d = 0; d < sizes.size(); ++d)
      if (sizes[d] > 0) sizes[d] = (*followed)[d];
    replace_integers(node, 1, sizes);
    return {};
  }

  // Changes the ends of a Slice: an end that was the old size becomes the new size.
  void follow_slice(Node& node, const Tensor& before) {
    std::vector<std::int64_t> ends = constant(node, 2)->integers(), axes;
    if (const Tensor* given = constant(node, 3)) axes = given->integers();
    for (std::size_t i = 0; i < ends.size(); ++i) {
      std::int64_t axis = i < axes.size() ? axes[i] : static_cast<std::int64_t>(i);
      if (axis < 0) axis += before.rank();
      if (axis >= 0 && axis < before.rank() &&
          ends[i] >= before.shape()[static_cast<std::size_t>(axis)])
        ends[i] = std::numeric_limits<std::int64_t>::max();
    }
    if (constant(node, 2)->type() == ElementType::i64) replace_integers(node, 2, ends);
  }

  Result<> follow_operands(Node& node) {
    for (const std::size_t i : {0, 1}) {
      const Tensor* grid = constant(node, i);
      const ValueId other = node.inputs[1 - i];
      const Tensor* after = now(other);
      if (grid == nullptr || after == nullptr || other >= old_.values.size() ||
          !old_.values[other] || old_.values[other]->shape() == after->shape())
        continue;
      const Shape& was = old_.values[other]->shape();
      Tensor rebuilt = *grid;
      const std::size_t offset = was.size() - std::min(was.size(), grid->shape().size());
      for (std::size_t d = 0; d < grid->shape().size() && offset + d < was.size(); ++d) {
        const std::int64_t size = after->shape()[offset + d];
        if (grid->shape()[d] != was[offset + d] || grid->shape()[d] == 1 ||
            grid->shape()[d] == size)
          continue;
        auto longer = extended(rebuilt, d, size);
        if (!longer)
          return stuck(node, weft::format("its constant '{}' neither stays the same nor grows "
                                          "evenly along a dimension that changes",
                                          out_.graph.name(node.inputs[i])));
        rebuilt = std::move(*longer);
      }
      if (rebuilt.shape() != grid->shape()) replace(node, i, std::move(rebuilt), "the constant");
    }
    return {};
  }

  Reshaped out_;
  std::vector<Tensor> shapes_;
  Inference old_;
  std::vector<std::optional<Tensor>> new_;
};

}  // namespace

Result<Reshaped> reshape_model(Graph graph, std::vector<Tensor> shapes) {
  return Reshaper(std::move(graph), std::move(shapes)).run();
}

}  // namespace weft::onnx
