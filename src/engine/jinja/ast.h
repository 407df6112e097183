// A parsed template: expressions and statements as plain structs. An Ast owns the nodes, and nodes
// point to one another.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "engine/jinja/value.h"

namespace weft::jinja {

struct Expression;
struct Statement;
using ExpressionRef = const Expression*;
using Block = std::vector<const Statement*>;

struct ArgumentNodes {
  std::vector<ExpressionRef> positional;
  std::vector<std::pair<std::string, ExpressionRef>> named;
  ExpressionRef star = nullptr;       // The list in *args.
  ExpressionRef star_star = nullptr;  // The dict in **kwargs.
};

enum class UnaryOperator : std::uint8_t { plus, minus, logical_not };
enum class BinaryOperator : std::uint8_t {
  add,
  subtract,
  multiply,
  divide,
  floor_divide,
  modulo,
  power,
  logical_and,
  logical_or
};
enum class Comparison : std::uint8_t {
  equal,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal,
  in,
  not_in
};

struct ConstantNode {
  Value value;
};
struct NameNode {
  std::string name;
};
struct SequenceNode {
  std::vector<ExpressionRef> items;
  bool is_tuple = false;
};
struct DictNode {
  std::vector<std::pair<ExpressionRef, ExpressionRef>> items;
};
struct UnaryNode {
  UnaryOperator op;
  ExpressionRef operand;
};
struct BinaryNode {
  BinaryOperator op;
  ExpressionRef left, right;
};
struct ConcatNode {
  std::vector<ExpressionRef> parts;
};
struct CompareNode {
  ExpressionRef first;
  std::vector<std::pair<Comparison, ExpressionRef>> rest;
};
struct ConditionalNode {
  ExpressionRef condition, then;
  ExpressionRef otherwise = nullptr;
};
struct AttributeNode {
  ExpressionRef object;
  std::string name;
};
struct SubscriptNode {
  ExpressionRef object, index;
};
struct SliceNode {  // The expression object[start:stop:step].
  ExpressionRef object;
  ExpressionRef start = nullptr, stop = nullptr, step = nullptr;
};
struct CallNode {
  ExpressionRef callee;
  ArgumentNodes arguments;
};
struct FilterNode {
  ExpressionRef input;  // Null in a filter block, whose text is the input.
  std::string name;
  ArgumentNodes arguments;
};
struct TestNode {
  ExpressionRef input;
  std::string name;
  ArgumentNodes arguments;
};

struct Expression {
  std::uint32_t line;
  std::variant<ConstantNode, NameNode, SequenceNode, DictNode, UnaryNode, BinaryNode, ConcatNode,
               CompareNode, ConditionalNode, AttributeNode, SubscriptNode, SliceNode, CallNode,
               FilterNode, TestNode>
      node;
};

// The target of an assignment: a name, a field of a namespace, or a tuple of targets.
struct Target {
  std::string name;
  std::string field;          // A field of the namespace `name`; empty for a plain name.
  std::vector<Target> parts;  // The targets of a tuple; empty otherwise.
};

struct Parameter {
  std::string name;
  ExpressionRef otherwise = nullptr;
};

struct TextNode {
  std::string text;
};
struct PrintNode {
  ExpressionRef value;
};
struct IfNode {
  std::vector<std::pair<ExpressionRef, Block>> branches;
  Block otherwise;
};
struct ForNode {
  Target target;
  ExpressionRef iterable;
  ExpressionRef condition = nullptr;
  bool recursive = false;
  Block body, otherwise;
};
struct SetNode {
  Target target;
  ExpressionRef value;
};
struct SetBlockNode {
  Target target;
  ExpressionRef filter = nullptr;  // A chain of FilterNodes; the first has no input.
  Block body;
};
struct MacroNode {
  std::string name;
  std::vector<Parameter> parameters;
  Block body;
  bool uses_caller = false, uses_varargs = false, uses_kwargs = false;
};
struct MacroStatement {
  MacroNode macro;
};
struct CallBlockNode {
  MacroNode caller;    // The body of the block, which caller() runs.
  ExpressionRef call;  // The call of the macro; points to a CallNode.
};
struct FilterBlockNode {
  ExpressionRef filter;
  Block body;
};
struct WithNode {
  std::vector<std::pair<Target, ExpressionRef>> values;
  Block body;
};
struct GroupNode {  // Statements that have no scope of their own ({% generation %}).
  Block body;
};
struct BreakNode {};
struct ContinueNode {};

struct Statement {
  std::uint32_t line;
  std::variant<TextNode, PrintNode, IfNode, ForNode, SetNode, SetBlockNode, MacroStatement,
               CallBlockNode, FilterBlockNode, WithNode, GroupNode, BreakNode, ContinueNode>
      node;
};

struct Ast {
  std::deque<Expression> expressions;
  std::deque<Statement> statements;
  Heap constants;
  Block root;
};

}  // namespace weft::jinja
