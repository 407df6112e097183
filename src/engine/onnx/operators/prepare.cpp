#include "engine/onnx/operators/prepare.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "engine/onnx/operators/operator.h"

namespace weft::onnx {
namespace {

char kind_of(const Attribute& attribute) { return "fistFIS?"[attribute.index()]; }

std::string_view kind_word(char kind) {
  switch (kind) {
    case 'f':
      return "a float";
    case 'i':
      return "an integer";
    case 's':
      return "a text";
    case 't':
      return "a tensor";
    case 'F':
      return "floats";
    case 'I':
      return "integers";
    default:
      return "texts";
  }
}

// Returns the kinds that the table lists for an attribute, or an empty text if it does not list the
// attribute.
std::string_view kinds_of(std::string_view attributes, std::string_view name) {
  for (std::size_t at = 0; at < attributes.size();) {
    const std::size_t end = std::min(attributes.find(' ', at), attributes.size());
    const std::string_view entry = attributes.substr(at, end - at);
    const std::size_t colon = entry.find(':');
    if (entry.substr(0, colon) == name) return entry.substr(colon + 1);
    at = end + 1;
  }
  return {};
}

Result<> check_node(const ModelNode& node, const std::string& name) {
  if (!node.domain.empty() && node.domain != "ai.onnx")
    return fail(ErrorCode::unsupported,
                "Node '{}' is of operator {} of the domain '{}', which is not supported.", name,
                node.op, node.domain);
  const Operator* op = find_operator(node.op);
  if (op == nullptr)
    return fail(ErrorCode::unsupported, "Node '{}' is of operator {}, which is not supported.",
                name, node.op);
  if (node.inputs.size() > op->inputs_max)
    return fail(ErrorCode::invalid_argument,
                "Node '{}' ({}) has {} inputs; at most {} are supported.", name, node.op,
                node.inputs.size(), op->inputs_max);
  for (std::size_t i = 0; i < op->inputs_min; ++i)
    if (i >= node.inputs.size() || node.inputs[i].empty())
      return fail(ErrorCode::invalid_argument, "Node '{}' ({}) lacks input {}.", name, node.op, i);
  if (op->inputs_max == any_number && std::ranges::count(node.inputs, std::string()) > 0)
    return fail(ErrorCode::invalid_argument, "Node '{}' ({}) has an empty input.", name, node.op);
  if (node.outputs.empty() || node.outputs.size() > op->outputs_max)
    return fail(ErrorCode::invalid_argument,
                "Node '{}' ({}) has {} outputs; 1 to {} are supported.", name, node.op,
                node.outputs.size(), op->outputs_max);
  for (const auto& [key, attribute] : node.attributes) {
    if (const auto* unreadable = std::get_if<UnreadableAttribute>(&attribute))
      return fail(ErrorCode::unsupported,
                  "Node '{}' ({}): its attribute '{}' is {}, which is not supported.", name,
                  node.op, key, unreadable->kind);
    const std::string_view kinds = kinds_of(op->attributes, key);
    if (kinds.empty())
      return fail(ErrorCode::unsupported, "Node '{}' ({}): its attribute '{}' is not supported.",
                  name, node.op, key);
    // An empty list is accepted because it does not show its kind.
    const char kind = kind_of(attribute);
    if (kinds.find(kind) == std::string_view::npos)
      return fail(ErrorCode::invalid_argument, "Node '{}' ({}): its attribute '{}' must be {}.",
                  name, node.op, key, kind_word(kinds[0]));
  }
  return {};
}

class Builder {
 public:
  explicit Builder(Model model, const PrepareOptions& options)
      : model_(std::move(model)), options_(options) {}

  Result<Graph> build() {
    graph_.opset = model_.opset;
    for (auto& [name, tensor] : model_.initializers) {
      WEFT_ASSIGN(const ValueId id, define(name, "an initialiser"));
      graph_.values[id].constant = std::move(tensor);
    }
    WEFT_OK(add_inputs());
    for (std::size_t i = 0; i < model_.nodes.size(); ++i) {
      WEFT_OK(add_node(std::move(model_.nodes[i]), i));
    }
    for (const ValueInfo& output : model_.outputs) {
      const auto found = ids_.find(output.name);
      if (found == ids_.end())
        return fail(ErrorCode::invalid_argument, "No node computes the output '{}'.", output.name);
      graph_.outputs.push_back(found->second);
    }
    if (graph_.outputs.empty())
      return fail(ErrorCode::invalid_argument, "The graph has no outputs.");
    if (options_.fold) WEFT_OK(fold());
    if (!options_.keep_unused) drop_unused();
    return std::move(graph_);
  }

 private:
  Result<ValueId> define(const std::string& name, std::string_view what) {
    const auto id = static_cast<ValueId>(graph_.values.size());
    if (!ids_.emplace(name, id).second)
      return fail(ErrorCode::invalid_argument, "The name '{}' of {} is used twice.", name, what);
    graph_.values.push_back({.name = name, .constant = std::nullopt});
    return id;
  }

  // Adds the inputs of the graph. Old models list initialisers among the inputs; they are left out.
  Result<> add_inputs() {
    for (ValueInfo& input : model_.inputs) {
      if (ids_.contains(input.name)) continue;
      if (input.shape) {
        for (Dimension& dimension : *input.shape)
          for (const auto& [symbol, size] : options_.sizes)
            if (!dimension.size && dimension.symbol == symbol) dimension.size = size;
      }
      WEFT_ASSIGN(const ValueId id, define(input.name, "an input"));
      graph_.input_ids.push_back(id);
      graph_.inputs.push_back(std::move(input));
    }
    return {};
  }

  Result<> add_node(ModelNode from, std::size_t index) {
    Node node;
    node.name = from.name.empty() ? weft::format("{}_{}", from.op, index) : from.name;
    WEFT_OK(check_node(from, node.name));
    for (const std::string& name : from.inputs) {
      if (name.empty()) {
        node.inputs.push_back(no_value);
        continue;
      }
      const auto found = ids_.find(name);
      if (found == ids_.end())
        return fail(ErrorCode::invalid_argument,
                    "Node '{}' ({}) reads '{}', which no input and no earlier node gives.",
                    node.name, from.op, name);
      node.inputs.push_back(found->second);
    }
    while (!node.inputs.empty() && node.inputs.back() == no_value) node.inputs.pop_back();
    for (const std::string& name : from.outputs) {
      if (name.empty()) {
        node.outputs.push_back(no_value);
        continue;
      }
      WEFT_ASSIGN(const ValueId id, define(name, "an output"));
      node.outputs.push_back(id);
    }
    node.op = std::move(from.op);
    node.attributes = std::move(from.attributes);
    graph_.nodes.push_back(std::move(node));
    return {};
  }

  // Computes nodes whose inputs are all constant.
  Result<> fold() {
    std::vector<Node> kept;
    for (Node& node : graph_.nodes) {
      std::vector<const Tensor*> inputs;
      bool constant = true;
      std::uint64_t bytes = 0;
      for (const ValueId id : node.inputs) {
        const Tensor* tensor =
            id == no_value || !graph_.values[id].constant ? nullptr : &*graph_.values[id].constant;
        constant = constant && (id == no_value || tensor != nullptr);
        if (tensor != nullptr) bytes += tensor->byte_count();
        inputs.push_back(tensor);
      }
      constant = constant && bytes <= options_.folded_bytes_max;
      if (constant) {
        // The shapes are inferred first, because a small input may ask for a large output.
        auto shapes = run_node(graph_, node, inputs, true);
        if (shapes)
          for (const auto& shape : *shapes)
            constant = constant && (!shape || shape->byte_count() <= options_.folded_bytes_max);
      }
      if (!constant) {
        kept.push_back(std::move(node));
        continue;
      }
      WEFT_ASSIGN(auto outputs, run_node(graph_, node, inputs, false));
      for (std::size_t i = 0; i < node.outputs.size(); ++i)
        if (node.outputs[i] != no_value)
          graph_.values[node.outputs[i]].constant = std::move(outputs[i]);
    }
    graph_.nodes = std::move(kept);
    return {};
  }

  void drop_unused() {
    std::vector<bool> needed(graph_.values.size());
    for (const ValueId id : graph_.outputs) needed[id] = true;
    std::vector<Node> kept;
    for (std::size_t i = graph_.nodes.size(); i-- > 0;) {
      Node& node = graph_.nodes[i];
      if (std::ranges::none_of(node.outputs,
                               [&](ValueId id) { return id != no_value && needed[id]; }))
        continue;
      for (const ValueId id : node.inputs)
        if (id != no_value) needed[id] = true;
      kept.push_back(std::move(node));
    }
    std::ranges::reverse(kept);
    graph_.nodes = std::move(kept);
    for (std::size_t id = 0; id < needed.size(); ++id)
      if (!needed[id]) graph_.values[id].constant.reset();
  }

  Model model_;
  const PrepareOptions& options_;
  Graph graph_;
  std::unordered_map<std::string, ValueId> ids_;
};

}  // namespace

Result<Graph> prepare(Model model, const PrepareOptions& options) {
  return Builder(std::move(model), options).build();
}

Result<std::vector<std::optional<Tensor>>> run_node(const Graph& graph, const Node& node,
                                                    std::span<const Tensor* const> inputs,
                                                    bool shapes_only) {
  const Operator* op = find_operator(node.op);
  check(op != nullptr, "a graph has known operators only");
  Call call(node, inputs, {.opset = graph.opset, .shapes_only = shapes_only});
  WEFT_OK(op->run(call));
  for (std::size_t i = 0; i < node.outputs.size(); ++i)
    if (node.outputs[i] != no_value && !call.outputs()[i])
      return fail(ErrorCode::unsupported, "Node '{}' ({}) does not compute its output {}.",
                  node.name, node.op, i);
  return std::move(call.outputs());
}

}  // namespace weft::onnx
