// Expressions.
#include "engine/jinja/interpreter.h"
#include "engine/jinja/print.h"
#include "engine/jinja/tables.h"

namespace weft::jinja {

struct Interpreter::Depth {
  explicit Depth(int& counter) : count(counter) { ++count; }
  Depth(const Depth&) = delete;
  ~Depth() { --count; }
  int& count;
};

Result<Value> Interpreter::evaluate(const Expression& expression, Scope& scope) {
  const Depth depth(depth_);
  WEFT_OK(step());
  line_ = expression.line;
  return std::visit([&](const auto& node) { return evaluate_node(node, scope); }, expression.node);
}

Result<Value> Interpreter::evaluate_node(const ConstantNode& node, Scope&) { return node.value; }

Result<Value> Interpreter::evaluate_node(const NameNode& node, Scope& scope) {
  for (const Scope* at = &scope; at != nullptr; at = at->parent)
    if (const Value* value = at->find(node.name)) return *value;
  if (const Value* value = variables_.as_dict().find(node.name)) return *value;
  if (const Function function = find_function(node.name))
    return Value(Kind::callable, heap_.make<FunctionObject>(0, node.name, function));
  return heap_.undefined("'" + node.name + "' is undefined");
}

Result<Value> Interpreter::evaluate_node(const SequenceNode& node, Scope& scope) {
  std::vector<Value> items;
  items.reserve(node.items.size());
  for (const ExpressionRef item : node.items) {
    WEFT_ASSIGN(const Value value, evaluate(*item, scope));
    items.push_back(value);
  }
  return node.is_tuple ? heap_.tuple(std::move(items)) : heap_.list(std::move(items));
}

Result<Value> Interpreter::evaluate_node(const DictNode& node, Scope& scope) {
  std::vector<std::pair<Value, Value>> items;
  for (const auto& [key_node, value_node] : node.items) {
    WEFT_ASSIGN(const Value key, evaluate(*key_node, scope));
    WEFT_ASSIGN(const Value value, evaluate(*value_node, scope));
    if (!is_hashable(key)) return fault("a {} cannot be a key", type_name(key));
    items.emplace_back(key, value);
  }
  return heap_.dict(std::move(items));
}

Result<Value> Interpreter::evaluate_node(const UnaryNode& node, Scope& scope) {
  WEFT_ASSIGN(const Value operand, evaluate(*node.operand, scope));
  return apply_unary(node.op, operand);
}

Result<Value> Interpreter::evaluate_node(const BinaryNode& node, Scope& scope) {
  WEFT_ASSIGN(const Value left, evaluate(*node.left, scope));
  if (node.op == BinaryOperator::logical_and)
    return is_true(left) ? evaluate(*node.right, scope) : left;
  if (node.op == BinaryOperator::logical_or)
    return is_true(left) ? left : evaluate(*node.right, scope);
  WEFT_ASSIGN(const Value right, evaluate(*node.right, scope));
  return apply_binary(*this, node.op, left, right);
}

Result<Value> Interpreter::evaluate_node(const ConcatNode& node, Scope& scope) {
  std::string text;
  for (const ExpressionRef part : node.parts) {
    WEFT_ASSIGN(const Value value, evaluate(*part, scope));
    append_str(text, value);
    WEFT_OK(charge(text.size() / 8));
  }
  return heap_.string(std::move(text));
}

Result<Value> Interpreter::evaluate_node(const CompareNode& node, Scope& scope) {
  WEFT_ASSIGN(Value left, evaluate(*node.first, scope));
  for (const auto& [comparison, right_node] : node.rest) {
    WEFT_ASSIGN(const Value right, evaluate(*right_node, scope));
    bool holds = false;
    switch (comparison) {
      case Comparison::equal:
        holds = are_equal(left, right);
        break;
      case Comparison::not_equal:
        holds = !are_equal(left, right);
        break;
      case Comparison::less: {
        WEFT_ASSIGN(holds, is_less(left, right));
        break;
      }
      case Comparison::greater: {
        WEFT_ASSIGN(holds, is_less(right, left));
        break;
      }
      case Comparison::less_equal: {
        WEFT_ASSIGN(const bool less, is_less(left, right));
        holds = less || are_equal(left, right);
        break;
      }
      case Comparison::greater_equal: {
        WEFT_ASSIGN(const bool less, is_less(right, left));
        holds = less || are_equal(left, right);
        break;
      }
      case Comparison::in: {
        WEFT_ASSIGN(holds, contains(*this, right, left));
        break;
      }
      case Comparison::not_in: {
        WEFT_ASSIGN(const bool inside, contains(*this, right, left));
        holds = !inside;
        break;
      }
    }
    if (!holds) return Value::boolean(false);
    left = right;
  }
  return Value::boolean(true);
}

Result<Value> Interpreter::evaluate_node(const ConditionalNode& node, Scope& scope) {
  WEFT_ASSIGN(const Value condition, evaluate(*node.condition, scope));
  if (is_true(condition)) return evaluate(*node.then, scope);
  if (node.otherwise != nullptr) return evaluate(*node.otherwise, scope);
  return heap_.undefined("the inline if-expression evaluated to false and has no else");
}

Result<Value> Interpreter::evaluate_node(const AttributeNode& node, Scope& scope) {
  WEFT_ASSIGN(const Value object, evaluate(*node.object, scope));
  return attribute(object, node.name);
}

Result<Value> Interpreter::evaluate_node(const SubscriptNode& node, Scope& scope) {
  WEFT_ASSIGN(const Value object, evaluate(*node.object, scope));
  WEFT_ASSIGN(const Value index, evaluate(*node.index, scope));
  return subscript(object, index);
}

Result<Value> Interpreter::evaluate_node(const SliceNode& node, Scope& scope) {
  WEFT_ASSIGN(const Value object, evaluate(*node.object, scope));
  Value parts[3];
  const ExpressionRef nodes[3] = {node.start, node.stop, node.step};
  for (int i = 0; i < 3; ++i) {
    parts[i] = Value::none();
    if (nodes[i] == nullptr) continue;
    WEFT_ASSIGN(parts[i], evaluate(*nodes[i], scope));
  }
  return slice(object, parts[0], parts[1], parts[2]);
}

Result<Arguments> Interpreter::evaluate_arguments(const ArgumentNodes& nodes, Scope& scope) {
  Arguments arguments;
  for (const ExpressionRef node : nodes.positional) {
    WEFT_ASSIGN(const Value value, evaluate(*node, scope));
    arguments.positional.push_back(value);
  }
  for (const auto& [name, node] : nodes.named) {
    WEFT_ASSIGN(const Value value, evaluate(*node, scope));
    arguments.named.emplace_back(name, value);
  }
  if (nodes.star != nullptr) {
    WEFT_ASSIGN(const Value star, evaluate(*nodes.star, scope));
    WEFT_ASSIGN(const std::vector<Value> more, elements_of(star));
    arguments.positional.insert(arguments.positional.end(), more.begin(), more.end());
  }
  if (nodes.star_star != nullptr) {
    WEFT_ASSIGN(const Value more, evaluate(*nodes.star_star, scope));
    if (!more.is(Kind::dict))
      return fault("what stands behind '**' is a {}, not a dict", type_name(more));
    for (const auto& [key, value] : more.as_dict().items) {
      if (!key.is(Kind::string))
        return fault("a keyword behind '**' is a {}, not a str", type_name(key));
      arguments.named.emplace_back(key.as_text(), value);
    }
  }
  return arguments;
}

Result<Value> Interpreter::evaluate_node(const CallNode& node, Scope& scope) {
  WEFT_ASSIGN(const Value callee, evaluate(*node.callee, scope));
  WEFT_ASSIGN(const Arguments arguments, evaluate_arguments(node.arguments, scope));
  return call(callee, arguments);
}

Result<Value> Interpreter::evaluate_node(const FilterNode& node, Scope& scope) {
  WEFT_ASSIGN(const Value input, evaluate(*node.input, scope));
  WEFT_ASSIGN(const Arguments arguments, evaluate_arguments(node.arguments, scope));
  return apply_filter(node.name, input, arguments);
}

// A chain whose first filter gets the block's text.
Result<Value> Interpreter::evaluate_filter(const Expression& expression, const Value& block,
                                           Scope& scope) {
  const Depth depth(depth_);
  WEFT_OK(step());
  const auto& node = std::get<FilterNode>(expression.node);
  Value input = block;
  if (node.input != nullptr) {
    WEFT_ASSIGN(input, evaluate_filter(*node.input, block, scope));
  }
  WEFT_ASSIGN(const Arguments arguments, evaluate_arguments(node.arguments, scope));
  return apply_filter(node.name, input, arguments);
}

Result<Value> Interpreter::evaluate_node(const TestNode& node, Scope& scope) {
  WEFT_ASSIGN(const Value input, evaluate(*node.input, scope));
  WEFT_ASSIGN(const Arguments arguments, evaluate_arguments(node.arguments, scope));
  WEFT_ASSIGN(const bool holds, apply_test(node.name, input, arguments));
  return Value::boolean(holds);
}

}  // namespace weft::jinja
