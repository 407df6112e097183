// Runs statements, with one overload for each kind of node.
//
// Errors: as Evaluator's. After an error no further statement of the rendering runs. Threading: one
// thread.
#pragma once

#include <cstdint>
#include <string>

#include "common/base/result.h"
#include "engine/jinja/ast.h"
#include "engine/jinja/callable.h"
#include "engine/jinja/evaluator.h"
#include "engine/jinja/output.h"
#include "engine/jinja/scope.h"
#include "engine/jinja/value.h"

namespace weft::jinja {

class Executor {
 public:
  // The result of a block in a loop: `on` at its end, leave_loop after break, next_round after
  // continue.
  enum class Flow : std::uint8_t { on, leave_loop, next_round };

  Executor(Interpreter& interpreter, Evaluator& evaluator, Scopes& scopes, Output& output)
      : interpreter_(interpreter), evaluator_(evaluator), scopes_(scopes), output_(output) {}

  [[nodiscard]] Result<Flow> execute(const Block& block, Scope& scope);
  // Runs the block and returns its output as a text instead of writing it.
  [[nodiscard]] Result<std::string> capture(const Block& block, Scope& scope);
  [[nodiscard]] Result<> run_loop(const ForNode& node, Scope& around, const Value& iterable,
                                  Integer depth0);

 private:
  [[nodiscard]] Result<Flow> node(const TextNode& node, Scope& scope);
  [[nodiscard]] Result<Flow> node(const PrintNode& node, Scope& scope);
  [[nodiscard]] Result<Flow> node(const IfNode& node, Scope& scope);
  [[nodiscard]] Result<Flow> node(const ForNode& node, Scope& scope);
  [[nodiscard]] Result<Flow> node(const SetNode& node, Scope& scope);
  [[nodiscard]] Result<Flow> node(const SetBlockNode& node, Scope& scope);
  [[nodiscard]] Result<Flow> node(const MacroStatement& node, Scope& scope);
  [[nodiscard]] Result<Flow> node(const CallBlockNode& node, Scope& scope);
  [[nodiscard]] Result<Flow> node(const FilterBlockNode& node, Scope& scope);
  [[nodiscard]] Result<Flow> node(const WithNode& node, Scope& scope);
  [[nodiscard]] Result<Flow> node(const GroupNode& node, Scope& scope);
  [[nodiscard]] Result<Flow> node(const BreakNode& node, Scope& scope);
  [[nodiscard]] Result<Flow> node(const ContinueNode& node, Scope& scope);
  [[nodiscard]] Result<> assign(const Target& target, const Value& value, Scope& scope);

  Interpreter& interpreter_;
  Evaluator& evaluator_;
  Scopes& scopes_;
  Output& output_;
};

}  // namespace weft::jinja
