// Runs a parsed template: one Interpreter for one rendering. The parts that know single things
// (operators, filters, tests, methods) are functions that get the Interpreter to make values, to
// count work, and to call back.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/result.h"
#include "engine/jinja/ast.h"
#include "engine/jinja/callable.h"
#include "engine/jinja/template.h"
#include "engine/jinja/value.h"

namespace weft::jinja {

// Names and their values; a loop's body, a macro and a few statements have one of their own.
struct Scope {
  explicit Scope(Scope* outer) : parent(outer) {}
  Scope* parent;
  std::vector<std::pair<std::string_view, Value>> names;  // Views into the Ast.

  [[nodiscard]] const Value* find(std::string_view name) const;
  void set(std::string_view name, Value value);
};

class Interpreter {
 public:
  Interpreter(const Ast& ast, const Value& variables, const RenderOptions& options)
      : ast_(ast), variables_(variables), options_(options) {}

  Result<std::string> run();

  // For filters, tests, methods and functions.
  [[nodiscard]] Heap& heap() { return heap_; }
  [[nodiscard]] const WallTime& now() const { return options_.now; }
  [[nodiscard]] Value text(std::string value) { return heap_.string(std::move(value)); }
  // Counts work beyond one step; fails at a bound. Call it before anything of that many bytes or
  // elements is made.
  [[nodiscard]] Result<> charge(std::uint64_t bytes);
  // All elements, as Python's iter() gives them; an iterator is used up by it.
  [[nodiscard]] Result<std::vector<Value>> elements_of(const Value& value);
  [[nodiscard]] Result<Value> call(const Value& callee, const Arguments& arguments);
  [[nodiscard]] Result<Value> apply_filter(std::string_view name, const Value& input,
                                           const Arguments& arguments);
  [[nodiscard]] Result<bool> apply_test(std::string_view name, const Value& input,
                                        const Arguments& arguments);
  [[nodiscard]] Result<Value> attribute(const Value& object, std::string_view name);  // object.name
  [[nodiscard]] Result<Value> subscript(const Value& object, const Value& index);  // object[index]
  // Remembers that the template itself said no.
  [[nodiscard]] std::unexpected<Error> refuse(std::string message);

 private:
  enum class Flow : std::uint8_t { on, leave_loop, next_round };

  [[nodiscard]] Result<> step();
  struct Depth;

  // evaluate.cpp
  [[nodiscard]] Result<Value> evaluate(const Expression& expression, Scope& scope);
  [[nodiscard]] Result<Value> evaluate_node(const ConstantNode& node, Scope& scope);
  [[nodiscard]] Result<Value> evaluate_node(const NameNode& node, Scope& scope);
  [[nodiscard]] Result<Value> evaluate_node(const SequenceNode& node, Scope& scope);
  [[nodiscard]] Result<Value> evaluate_node(const DictNode& node, Scope& scope);
  [[nodiscard]] Result<Value> evaluate_node(const UnaryNode& node, Scope& scope);
  [[nodiscard]] Result<Value> evaluate_node(const BinaryNode& node, Scope& scope);
  [[nodiscard]] Result<Value> evaluate_node(const ConcatNode& node, Scope& scope);
  [[nodiscard]] Result<Value> evaluate_node(const CompareNode& node, Scope& scope);
  [[nodiscard]] Result<Value> evaluate_node(const ConditionalNode& node, Scope& scope);
  [[nodiscard]] Result<Value> evaluate_node(const AttributeNode& node, Scope& scope);
  [[nodiscard]] Result<Value> evaluate_node(const SubscriptNode& node, Scope& scope);
  [[nodiscard]] Result<Value> evaluate_node(const SliceNode& node, Scope& scope);
  [[nodiscard]] Result<Value> evaluate_node(const CallNode& node, Scope& scope);
  [[nodiscard]] Result<Value> evaluate_node(const FilterNode& node, Scope& scope);
  [[nodiscard]] Result<Value> evaluate_node(const TestNode& node, Scope& scope);
  [[nodiscard]] Result<Arguments> evaluate_arguments(const ArgumentNodes& nodes, Scope& scope);
  [[nodiscard]] Result<Value> evaluate_filter(const Expression& expression, const Value& block,
                                              Scope& scope);

  // execute.cpp
  [[nodiscard]] Result<Flow> execute(const Block& block, Scope& scope);
  [[nodiscard]] Result<Flow> execute_node(const TextNode& node, Scope& scope);
  [[nodiscard]] Result<Flow> execute_node(const PrintNode& node, Scope& scope);
  [[nodiscard]] Result<Flow> execute_node(const IfNode& node, Scope& scope);
  [[nodiscard]] Result<Flow> execute_node(const ForNode& node, Scope& scope);
  [[nodiscard]] Result<Flow> execute_node(const SetNode& node, Scope& scope);
  [[nodiscard]] Result<Flow> execute_node(const SetBlockNode& node, Scope& scope);
  [[nodiscard]] Result<Flow> execute_node(const MacroStatement& node, Scope& scope);
  [[nodiscard]] Result<Flow> execute_node(const CallBlockNode& node, Scope& scope);
  [[nodiscard]] Result<Flow> execute_node(const FilterBlockNode& node, Scope& scope);
  [[nodiscard]] Result<Flow> execute_node(const WithNode& node, Scope& scope);
  [[nodiscard]] Result<Flow> execute_node(const GroupNode& node, Scope& scope);
  [[nodiscard]] Result<Flow> execute_node(const BreakNode& node, Scope& scope);
  [[nodiscard]] Result<Flow> execute_node(const ContinueNode& node, Scope& scope);
  [[nodiscard]] Result<> run_loop(const ForNode& node, Scope& around, const Value& iterable,
                                  Integer depth0);
  [[nodiscard]] Result<> assign(const Target& target, const Value& value, Scope& scope);
  [[nodiscard]] Result<Scope*> new_scope(Scope* parent);
  // Runs the block with its output kept apart.
  [[nodiscard]] Result<std::string> capture(const Block& block, Scope& scope);
  [[nodiscard]] Result<> write(std::string_view text);

  // calls.cpp
  [[nodiscard]] Result<Value> call_macro(const MacroObject& macro, const Arguments& arguments);
  [[nodiscard]] Result<Value> call_loop(LoopObject& loop, const Arguments& arguments);

  // attributes.cpp
  // The code point at a place of a string, counted from the end if it is negative.
  [[nodiscard]] Result<Value> character(const Value& string, Integer at);
  [[nodiscard]] Result<Value> slice(const Value& object, const Value& start, const Value& stop,
                                    const Value& step);
  [[nodiscard]] Result<Value> loop_attribute(LoopObject& loop, std::string_view name);

  const Ast& ast_;
  const Value variables_;
  const RenderOptions options_;
  Heap heap_;
  std::deque<Scope> scopes_;
  std::string output_;
  std::string* out_ = &output_;
  std::uint64_t steps_ = 0;
  int depth_ = 0;
  std::uint32_t line_ = 1;
  bool refused_ = false;
};

}  // namespace weft::jinja
