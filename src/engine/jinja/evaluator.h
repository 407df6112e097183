// Computes the values of expressions, with one overload for each kind of node.
//
// Errors: invalid_argument for a mistake of the template, resource_exhausted at a bound. The
// interpreter adds the line. Threading: one thread.
#pragma once

#include "common/base/result.h"
#include "engine/jinja/ast.h"
#include "engine/jinja/callable.h"
#include "engine/jinja/scope.h"
#include "engine/jinja/value.h"

namespace weft::jinja {

class Evaluator {
 public:
  // `variables` is the dict that render() is given.
  Evaluator(Interpreter& interpreter, const Value& variables)
      : interpreter_(interpreter), variables_(variables) {}

  [[nodiscard]] Result<Value> evaluate(const Expression& expression, Scope& scope);
  // Returns the value of a name from the scopes, the variables or the functions, in this order;
  // undefined if the name has no value.
  [[nodiscard]] Value name(const std::string& name, const Scope& scope);
  [[nodiscard]] Result<Arguments> arguments(const ArgumentNodes& nodes, Scope& scope);
  // Computes a chain of filters; the input of the first filter is `block`, the text of a block.
  [[nodiscard]] Result<Value> filtered(const Expression& expression, const Value& block,
                                       Scope& scope);

 private:
  [[nodiscard]] Result<Value> node(const ConstantNode& node, Scope& scope);
  [[nodiscard]] Result<Value> node(const NameNode& node, Scope& scope);
  [[nodiscard]] Result<Value> node(const SequenceNode& node, Scope& scope);
  [[nodiscard]] Result<Value> node(const DictNode& node, Scope& scope);
  [[nodiscard]] Result<Value> node(const UnaryNode& node, Scope& scope);
  [[nodiscard]] Result<Value> node(const BinaryNode& node, Scope& scope);
  [[nodiscard]] Result<Value> node(const ConcatNode& node, Scope& scope);
  [[nodiscard]] Result<Value> node(const CompareNode& node, Scope& scope);
  [[nodiscard]] Result<Value> node(const ConditionalNode& node, Scope& scope);
  [[nodiscard]] Result<Value> node(const AttributeNode& node, Scope& scope);
  [[nodiscard]] Result<Value> node(const SubscriptNode& node, Scope& scope);
  [[nodiscard]] Result<Value> node(const SliceNode& node, Scope& scope);
  [[nodiscard]] Result<Value> node(const CallNode& node, Scope& scope);
  [[nodiscard]] Result<Value> node(const FilterNode& node, Scope& scope);
  [[nodiscard]] Result<Value> node(const TestNode& node, Scope& scope);

  Interpreter& interpreter_;
  const Value variables_;
};

}  // namespace weft::jinja
