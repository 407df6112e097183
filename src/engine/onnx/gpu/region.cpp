#include "engine/onnx/gpu/region.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

#include "engine/onnx/gpu/elementwise.h"
#include "engine/onnx/operators/movement.h"

namespace weft::onnx {
namespace {

using Place = std::vector<std::string>;  // The index along each dimension of a value.

bool changes_shape_only(const Node& node) {
  return node.op == "Reshape" || node.op == "Flatten" || node.op == "Squeeze" ||
         node.op == "Unsqueeze" || node.op == "Identity";
}

std::size_t axis_of(const Node& node, const Tensor& out) {
  const auto found = node.attributes.find("axis");
  const std::int64_t axis =
      found == node.attributes.end() ? 1 : std::get<std::int64_t>(found->second);
  return static_cast<std::size_t>(axis < 0 ? axis + out.rank() : axis);
}

// Returns the place in an operand for a place of the result; the operand is repeated along its
// dimensions of size 1.
Place broadcast_place(const Shape& shape, const Place& place) {
  Place out;
  for (std::size_t d = 0; d < shape.size(); ++d)
    out.push_back(shape[d] == 1 ? "0u" : place[place.size() - shape.size() + d]);
  return out;
}

class RegionText {
 public:
  RegionText(const KernelContext& context, const std::vector<const Node*>& members)
      : context_(context) {
    for (const Node* node : members) producers_[node->outputs[0]] = node;
  }

  std::optional<Kernel> run(ValueId root, std::string label) {
    const Tensor& out = context_.tensor(root);
    if (out.count() == 0) return std::nullopt;
    const auto result = element(root, place_of("i", out.shape()));
    if (!result) return std::nullopt;
    body_ += weft::format("  {}[i] = {};\n", text_.output(root, out.type()), *result);
    const auto count = static_cast<std::uint64_t>(out.count());
    const std::uint64_t rounds = rounds_of(count);
    return rounds > 1 ? text_.build_runs(std::move(label), count, rounds, body_)
                      : text_.build(std::move(label), count, body_);
  }

 private:
  // Returns the number of rounds of a workgroup. Neighbours in memory are far apart after a
  // transposition. With enough rounds a workgroup computes results whose inputs are neighbours
  // again, so that it reads each part of memory only once.
  std::uint64_t rounds_of(std::uint64_t count) const {
    constexpr std::int64_t together = 16, results_max = 4096;
    constexpr std::uint64_t lanes = 64, groups_wanted = 512;
    std::int64_t apart = 1;
    for (const auto& [id, node] : producers_) {
      if (node->op != "Transpose") continue;
      const Shape& from = context_.tensor(node->inputs[0]).shape();
      const Shape strides = row_major_strides(context_.tensor(id).shape());
      const std::vector<std::int64_t> order = order_of(*node, from.size());
      std::size_t last = from.size();
      while (last > 0 && from[last - 1] == 1) --last;
      for (std::size_t d = 0; d < order.size(); ++d)
        if (last > 0 && order[d] == static_cast<std::int64_t>(last - 1))
          apart = std::max(apart, strides[d]);
    }
    if (apart == 1 || apart * together > results_max) return 1;
    const std::uint64_t wanted = (static_cast<std::uint64_t>(apart * together) + lanes - 1) / lanes;
    return std::max<std::uint64_t>(1, std::min(wanted, count / lanes / groups_wanted));
  }
  std::vector<std::int64_t> order_of(const Node& node, std::size_t rank) const {
    std::vector<std::int64_t> order = CallOf(context_, node)->integers("perm");
    const auto size = static_cast<std::int64_t>(rank);
    if (order.empty())
      for (std::int64_t i = size; i-- > 0;) order.push_back(i);
    for (std::int64_t& axis : order) axis += axis < 0 ? size : 0;
    return order;
  }
  std::string named(const std::string& expression) {
    const std::string name = weft::format("t{}", names_++);
    body_ += weft::format("  let {} = {};\n", name, expression);
    return name;
  }
  // Returns the indices of element `index` of a shape.
  Place place_of(const std::string& index, const Shape& shape) {
    const Shape strides = row_major_strides(shape);
    Place out;
    bool first = true;  // The first index cannot exceed its size.
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (shape[d] == 1) {
        out.emplace_back("0u");
        continue;
      }
      std::string part = strides[d] == 1 ? index : weft::format("{} / {}u", index, strides[d]);
      if (!first) part = weft::format("({}) % {}u", part, shape[d]);
      first = false;
      out.push_back(named(part));
    }
    return out;
  }
  static std::string index_of(const Shape& shape, const Place& place) {
    const Shape strides = row_major_strides(shape);
    std::string out;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (place[d] == "0u") continue;
      out += out.empty() ? "" : " + ";
      out += strides[d] == 1 ? place[d] : weft::format("{} * {}u", place[d], strides[d]);
    }
    return out.empty() ? "0u" : out;
  }
  // Returns the place of an element after a reshape. Dimensions that both shapes have keep their
  // index; the index within the dimensions between them is computed from the element's number.
  Place reshaped(const Shape& from, const Shape& to, const Place& place) {
    Place out;
    std::size_t a = 0, b = 0;
    while (a < from.size() || b < to.size()) {
      Shape here, there;
      Place places;
      const auto take_from = [&] {
        here.push_back(from[a]);
        places.push_back(place[a++]);
      };
      if (a < from.size()) take_from();
      if (b < to.size()) there.push_back(to[b++]);
      while (element_count(here) != element_count(there)) {
        if (element_count(here) < element_count(there))
          take_from();
        else
          there.push_back(to[b++]);
      }
      if (here == there) {
        out.insert(out.end(), places.begin(), places.end());
        continue;
      }
      const std::string index = element_count(here) == 1 ? "0u" : named(index_of(here, places));
      const Place parts = place_of(index, there);
      out.insert(out.end(), parts.begin(), parts.end());
    }
    return out;
  }

  // Returns the name of an element of a value, and adds the statements that compute it.
  std::optional<std::string> element(ValueId id, const Place& place) {
    const auto found = producers_.find(id);
    if (found == producers_.end()) return loaded(id, place);
    std::string key = std::to_string(id);
    for (const std::string& index : place) key += " " + index;
    if (const auto known = known_.find(key); known != known_.end()) return known->second;
    const Node& node = *found->second;
    auto result = only_moves(node) ? moved(node, place) : computed(node, place);
    if (result) known_[key] = *result;
    return result;
  }
  std::optional<std::string> loaded(ValueId id, const Place& place) {
    const Tensor& value = context_.tensor(id);
    if (value.has_bytes() && value.count() == 1 && value.type() == ElementType::f32 &&
        std::isfinite(value.number(0)))
      return weft::format("bitcast<f32>({}u)",
                          std::bit_cast<std::uint32_t>(static_cast<float>(value.number(0))));
    const std::string buffer = text_.input(id, value.type());
    return named(weft::format("{}[{}]", buffer, index_of(value.shape(), place)));
  }
  std::optional<std::string> computed(const Node& node, const Place& place) {
    std::vector<std::string> operands;
    const std::size_t count = node.op == "Dropout" ? 1 : node.inputs.size();
    for (std::size_t i = 0; i < count; ++i) {
      const ValueId id = node.inputs[i];
      if (id == no_value) {
        operands.emplace_back();
        continue;
      }
      const Shape& shape = context_.tensor(id).shape();
      const auto operand = element(id, broadcast_place(shape, place));
      if (!operand) return std::nullopt;
      operands.push_back(*operand);
    }
    const auto result = element_of(context_, node, std::move(operands), text_);
    if (!result) return std::nullopt;
    return named(*result);
  }
  std::optional<std::string> moved(const Node& node, const Place& place) {
    if (node.op == "Concat") return joined(node, place);
    const Tensor& x = context_.tensor(node.inputs[0]);
    const Tensor& out = context_.tensor(node.outputs[0]);
    if (changes_shape_only(node))
      return element(node.inputs[0], reshaped(out.shape(), x.shape(), place));
    const CallOf call(context_, node);
    if (node.op == "Expand") return element(node.inputs[0], broadcast_place(x.shape(), place));
    Place from(x.shape().size(), "0u");
    if (node.op == "Transpose") {
      const std::vector<std::int64_t> order = order_of(node, x.shape().size());
      for (std::size_t d = 0; d < order.size(); ++d)
        from[static_cast<std::size_t>(order[d])] = place[d];
      return element(node.inputs[0], from);
    }
    const auto plan = plan_slice(*call);
    if (!plan) return std::nullopt;
    const Shape own = row_major_strides(x.shape());
    for (std::size_t d = 0; d < own.size(); ++d) {
      const std::int64_t start = plan->start / own[d] % x.shape()[d];
      const std::int64_t step = plan->strides[d] / own[d];
      if (out.shape()[d] == 1)
        from[d] = weft::format("{}u", start);
      else if (start == 0 && step == 1)
        from[d] = place[d];
      else if (step > 0)
        from[d] = named(weft::format("{}u + {} * {}u", start, place[d], step));
      else
        from[d] = named(weft::format("{}u - {} * {}u", start, place[d], -step));
    }
    return element(node.inputs[0], from);
  }
  // Computes an element of a concatenation from the input that contains it.
  std::optional<std::string> joined(const Node& node, const Place& place) {
    const Tensor& out = context_.tensor(node.outputs[0]);
    const std::size_t axis = axis_of(node, out);
    const std::string result = weft::format("t{}", names_++);
    body_ += weft::format("  var {}: {};\n", result, storage_type(out.type()));
    std::int64_t begin = 0;
    bool first = true;
    for (const ValueId id : node.inputs) {
      const Tensor& part = context_.tensor(id);
      if (part.count() == 0) continue;
      const std::int64_t end = begin + part.shape()[axis];
      body_ += first ? "  " : "  else ";
      body_ +=
          end == out.shape()[axis] ? "{\n" : weft::format("if ({} < {}u) {{\n", place[axis], end);
      const auto before = known_;
      Place from = place;
      from[axis] = part.shape()[axis] == 1 ? "0u"
                   : begin == 0            ? place[axis]
                                           : named(weft::format("{} - {}u", place[axis], begin));
      const auto value = element(id, from);
      if (!value) return std::nullopt;
      body_ += weft::format("  {} = {};\n  }}\n", result, *value);
      known_ = before;
      begin = end;
      first = false;
    }
    return result;
  }

  const KernelContext& context_;
  std::map<ValueId, const Node*> producers_;
  KernelText text_;
  std::string body_;
  std::map<std::string, std::string> known_;  // Names of computed elements, by value and place.
  std::size_t names_ = 0;
};

}  // namespace

bool only_moves(const Node& node) {
  return node.op == "Transpose" || node.op == "Slice" || node.op == "Expand" ||
         node.op == "Concat" || changes_shape_only(node);
}

std::int64_t joined_blocks(const KernelContext& context, const Node& node) {
  const Tensor& out = context.tensor(node.outputs[0]);
  const Shape& shape = out.shape();
  const auto axis = static_cast<std::ptrdiff_t>(axis_of(node, out));
  return element_count(Shape(shape.begin(), shape.begin() + axis));
}

bool joins_end_to_end(const KernelContext& context, const Node& node) {
  return node.op == "Concat" && joined_blocks(context, node) == 1;
}

bool fits_region(const KernelContext& context, const Node& node) {
  if (node.outputs.size() != 1 || node.outputs[0] == no_value) return false;
  if (only_moves(node)) return true;
  return node.op != "BatchNormalization" && is_elementwise(context, node);
}

bool computed_once(const KernelContext& context, const std::vector<const Node*>& members,
                   ValueId root, ValueId value) {
  const auto count = [&](ValueId id) { return context.tensor(id).count(); };
  std::map<ValueId, std::int64_t> times;  // Number of elements that are requested of a value.
  times[root] = count(root);
  for (std::size_t n = members.size(); n-- > 0;) {
    const Node& node = *members[n];
    const std::int64_t asked = times[node.outputs[0]];
    const std::int64_t whole = std::max<std::int64_t>(1, count(node.outputs[0]));
    std::map<ValueId, std::int64_t> here;
    for (const ValueId id : node.inputs) {
      if (id == no_value) continue;
      // A concatenation requests each input separately; another operator that uses a value twice
      // requests each of its elements once.
      if (node.op == "Concat")
        here[id] += (asked + whole - 1) / whole * count(id);
      else
        here[id] = std::max(here[id], asked);
    }
    for (const auto& [id, more] : here)
      times[id] = only_moves(node) ? times[id] + more : std::max(times[id], more);
  }
  return times[value] <= count(value);
}

std::optional<Kernel> region_kernel(const KernelContext& context,
                                    const std::vector<const Node*>& members) {
  constexpr std::size_t named_max = 4;
  std::string label;
  for (std::size_t i = 0; i < members.size() && i < named_max; ++i)
    label += (i == 0 ? "" : "+") + members[i]->op;
  if (members.size() > named_max) label += weft::format("+{} more", members.size() - named_max);
  return RegionText(context, members).run(members.back()->outputs[0], std::move(label));
}

}  // namespace weft::onnx
