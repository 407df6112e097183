#include "engine/jinja/evaluator.h"

#include "engine/jinja/interpreter.h"
#include "engine/jinja/print.h"
#include "engine/jinja/tables.h"

namespace weft::jinja {

Result<Value> Evaluator::evaluate(const Expression& expression, Scope& scope) {
  const Meter::Level level(interpreter_.meter());
  WEFT_OK(interpreter_.meter().step());
  interpreter_.meter().at_line(expression.line);
  return std::visit([&](const auto& node) { return this->node(node, scope); }, expression.node);
}

Result<Value> Evaluator::node(const ConstantNode& node, Scope&) { return node.value; }

Result<Value> Evaluator::node(const NameNode& node, Scope& scope) { return name(node.name, scope); }

Value Evaluator::name(const std::string& name, const Scope& scope) {
  if (const Value* value = find_name(scope, name)) return *value;
  if (const Value* value = variables_.as_dict().find(name)) return *value;
  if (const Function function = find_function(name))
    return Value(Kind::callable, interpreter_.heap().make<FunctionObject>(0, name, function));
  return interpreter_.heap().undefined("'" + name + "' is undefined");
}

Result<Value> Evaluator::node(const SequenceNode& node, Scope& scope) {
  std::vector<Value> items;
  items.reserve(node.items.size());
  for (const ExpressionRef item : node.items) {
    WEFT_ASSIGN(const Value value, evaluate(*item, scope));
    items.push_back(value);
  }
  return node.is_tuple ? interpreter_.heap().tuple(std::move(items))
                       : interpreter_.heap().list(std::move(items));
}

Result<Value> Evaluator::node(const DictNode& node, Scope& scope) {
  std::vector<std::pair<Value, Value>> items;
  for (const auto& [key_node, value_node] : node.items) {
    WEFT_ASSIGN(const Value key, evaluate(*key_node, scope));
    WEFT_ASSIGN(const Value value, evaluate(*value_node, scope));
    if (!is_hashable(key)) return fault("a {} cannot be a key", type_name(key));
    items.emplace_back(key, value);
  }
  return interpreter_.heap().dict(std::move(items));
}

Result<Value> Evaluator::node(const UnaryNode& node, Scope& scope) {
  WEFT_ASSIGN(const Value operand, evaluate(*node.operand, scope));
  return apply_unary(node.op, operand);
}

Result<Value> Evaluator::node(const BinaryNode& node, Scope& scope) {
  WEFT_ASSIGN(const Value left, evaluate(*node.left, scope));
  if (node.op == BinaryOperator::logical_and)
    return is_true(left) ? evaluate(*node.right, scope) : left;
  if (node.op == BinaryOperator::logical_or)
    return is_true(left) ? left : evaluate(*node.right, scope);
  WEFT_ASSIGN(const Value right, evaluate(*node.right, scope));
  return apply_binary(interpreter_, node.op, left, right);
}

Result<Value> Evaluator::node(const ConcatNode& node, Scope& scope) {
  std::string text;
  for (const ExpressionRef part : node.parts) {
    WEFT_ASSIGN(const Value value, evaluate(*part, scope));
    append_str(text, value);
    WEFT_OK(interpreter_.charge(text.size() / 8));
  }
  return interpreter_.heap().string(std::move(text));
}

Result<Value> Evaluator::node(const CompareNode& node, Scope& scope) {
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
        WEFT_ASSIGN(holds, contains(interpreter_, right, left));
        break;
      }
      case Comparison::not_in: {
        WEFT_ASSIGN(const bool inside, contains(interpreter_, right, left));
        holds = !inside;
        break;
      }
    }
    if (!holds) return Value::boolean(false);
    left = right;
  }
  return Value::boolean(true);
}

Result<Value> Evaluator::node(const ConditionalNode& node, Scope& scope) {
  WEFT_ASSIGN(const Value condition, evaluate(*node.condition, scope));
  if (is_true(condition)) return evaluate(*node.then, scope);
  if (node.otherwise != nullptr) return evaluate(*node.otherwise, scope);
  return interpreter_.heap().undefined(
      "the inline if-expression evaluated to false and has no else");
}

Result<Value> Evaluator::node(const AttributeNode& node, Scope& scope) {
  WEFT_ASSIGN(const Value object, evaluate(*node.object, scope));
  return interpreter_.attribute(object, node.name);
}

Result<Value> Evaluator::node(const SubscriptNode& node, Scope& scope) {
  WEFT_ASSIGN(const Value object, evaluate(*node.object, scope));
  WEFT_ASSIGN(const Value index, evaluate(*node.index, scope));
  return interpreter_.subscript(object, index);
}

Result<Value> Evaluator::node(const SliceNode& node, Scope& scope) {
  WEFT_ASSIGN(const Value object, evaluate(*node.object, scope));
  Value parts[3];
  const ExpressionRef nodes[3] = {node.start, node.stop, node.step};
  for (int i = 0; i < 3; ++i) {
    parts[i] = Value::none();
    if (nodes[i] == nullptr) continue;
    WEFT_ASSIGN(parts[i], evaluate(*nodes[i], scope));
  }
  return slice_of(interpreter_, object, parts[0], parts[1], parts[2]);
}

Result<Arguments> Evaluator::arguments(const ArgumentNodes& nodes, Scope& scope) {
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
    WEFT_ASSIGN(const std::vector<Value> more, interpreter_.elements_of(star));
    arguments.positional.insert(arguments.positional.end(), more.begin(), more.end());
  }
  if (nodes.star_star != nullptr) {
    WEFT_ASSIGN(const Value more, evaluate(*nodes.star_star, scope));
    if (!more.is(Kind::dict))
      return fault("the value after '**' is a {}, not a dict", type_name(more));
    for (const auto& [key, value] : more.as_dict().items) {
      if (!key.is(Kind::string))
        return fault("a keyword of the value after '**' is a {}, not a str", type_name(key));
      arguments.named.emplace_back(key.as_text(), value);
    }
  }
  return arguments;
}

Result<Value> Evaluator::node(const CallNode& node, Scope& scope) {
  WEFT_ASSIGN(const Value callee, evaluate(*node.callee, scope));
  WEFT_ASSIGN(const Arguments arguments, this->arguments(node.arguments, scope));
  return interpreter_.call(callee, arguments);
}

Result<Value> Evaluator::node(const FilterNode& node, Scope& scope) {
  WEFT_ASSIGN(const Value input, evaluate(*node.input, scope));
  WEFT_ASSIGN(const Arguments arguments, this->arguments(node.arguments, scope));
  return interpreter_.apply_filter(node.name, input, arguments);
}

Result<Value> Evaluator::filtered(const Expression& expression, const Value& block, Scope& scope) {
  const Meter::Level level(interpreter_.meter());
  WEFT_OK(interpreter_.meter().step());
  const auto& node = std::get<FilterNode>(expression.node);
  Value input = block;
  if (node.input != nullptr) {
    WEFT_ASSIGN(input, filtered(*node.input, block, scope));
  }
  WEFT_ASSIGN(const Arguments arguments, this->arguments(node.arguments, scope));
  return interpreter_.apply_filter(node.name, input, arguments);
}

Result<Value> Evaluator::node(const TestNode& node, Scope& scope) {
  WEFT_ASSIGN(const Value input, evaluate(*node.input, scope));
  WEFT_ASSIGN(const Arguments arguments, this->arguments(node.arguments, scope));
  WEFT_ASSIGN(const bool holds, interpreter_.apply_test(node.name, input, arguments));
  return Value::boolean(holds);
}

}  // namespace weft::jinja
