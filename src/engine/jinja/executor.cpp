#include "engine/jinja/executor.h"

#include "common/base/format.h"
#include "engine/jinja/interpreter.h"
#include "engine/jinja/print.h"
#include "engine/jinja/tables.h"

namespace weft::jinja {

Result<std::string> Executor::capture(const Block& block, Scope& scope) {
  Output::Apart apart(output_);
  WEFT_OK(execute(block, scope));
  std::string text = apart.take();
  WEFT_OK(interpreter_.charge(text.size()));
  return text;
}

Result<Executor::Flow> Executor::execute(const Block& block, Scope& scope) {
  const Meter::Level level(interpreter_.meter());
  Flow flow = Flow::on;
  for (const Statement* statement : block) {
    WEFT_OK(interpreter_.meter().step());
    interpreter_.meter().at_line(statement->line);
    WEFT_ASSIGN(flow, std::visit([&](const auto& node) { return this->node(node, scope); },
                                 statement->node));
    if (flow != Flow::on) break;
  }
  return flow;
}

Result<Executor::Flow> Executor::node(const TextNode& node, Scope&) {
  WEFT_OK(output_.write(node.text));
  return Flow::on;
}

Result<Executor::Flow> Executor::node(const PrintNode& node, Scope& scope) {
  WEFT_ASSIGN(const Value value, evaluator_.evaluate(*node.value, scope));
  if (value.is(Kind::string)) {
    WEFT_OK(output_.write(value.as_text()));
  } else {
    WEFT_OK(output_.write(to_str(value)));
  }
  return Flow::on;
}

Result<Executor::Flow> Executor::node(const IfNode& node, Scope& scope) {
  for (const auto& [condition, body] : node.branches) {
    WEFT_ASSIGN(const Value value, evaluator_.evaluate(*condition, scope));
    if (is_true(value)) return execute(body, scope);
  }
  return execute(node.otherwise, scope);
}

Result<Executor::Flow> Executor::node(const ForNode& node, Scope& scope) {
  WEFT_ASSIGN(const Value iterable, evaluator_.evaluate(*node.iterable, scope));
  WEFT_OK(run_loop(node, scope, iterable, 0));
  return Flow::on;
}

Result<> Executor::run_loop(const ForNode& node, Scope& around, const Value& iterable,
                            Integer depth0) {
  WEFT_ASSIGN(std::vector<Value> items, interpreter_.elements_of(iterable));
  if (node.condition != nullptr) {
    std::vector<Value> kept;
    WEFT_ASSIGN(Scope * scope, scopes_.add(&around));
    for (const Value& item : items) {
      WEFT_OK(assign(node.target, item, *scope));
      WEFT_ASSIGN(const Value value, evaluator_.evaluate(*node.condition, *scope));
      if (is_true(value)) kept.push_back(item);
    }
    items = std::move(kept);
  }
  WEFT_OK(interpreter_.charge(items.size() * sizeof(Value)));
  auto* loop = interpreter_.heap().make<LoopObject>(items.size() * sizeof(Value), node, around,
                                                    std::move(items), depth0);
  WEFT_ASSIGN(Scope * scope, scopes_.add(&around));
  bool completed = false;
  for (loop->index0 = 0; loop->index0 < loop->items.size(); ++loop->index0) {
    scope->names.clear();
    scope->set("loop", Value(Kind::callable, loop));
    WEFT_OK(assign(node.target, loop->items[loop->index0], *scope));
    WEFT_ASSIGN(const Flow flow, execute(node.body, *scope));
    if (flow == Flow::leave_loop) break;
    completed = completed || flow == Flow::on;
  }
  if (!completed) {  // As in jinja2, `else` also runs if break or continue ended every round.
    WEFT_ASSIGN(Scope * other, scopes_.add(&around));
    WEFT_OK(execute(node.otherwise, *other));
  }
  return {};
}

Result<> Executor::assign(const Target& target, const Value& value, Scope& scope) {
  if (!target.parts.empty()) {
    WEFT_ASSIGN(const std::vector<Value> items, interpreter_.elements_of(value));
    if (items.size() != target.parts.size())
      return fault("{} values cannot be assigned to {} names", items.size(), target.parts.size());
    for (std::size_t i = 0; i < items.size(); ++i)
      WEFT_OK(assign(target.parts[i], items[i], scope));
    return {};
  }
  if (target.field.empty()) {
    scope.set(target.name, value);
    return {};
  }
  const Value object = evaluator_.name(target.name, scope);
  if (!object.is(Kind::name_space))
    return fault("'{}' is not a namespace, so its attributes cannot be assigned", target.name);
  auto& fields = object.as_namespace().fields;
  for (auto& [name, held] : fields) {
    if (name == target.field) {
      held = value;
      return {};
    }
  }
  interpreter_.heap().charge(target.field.size() + sizeof(Value));
  fields.emplace_back(target.field, value);
  return {};
}

Result<Executor::Flow> Executor::node(const SetNode& node, Scope& scope) {
  WEFT_ASSIGN(const Value value, evaluator_.evaluate(*node.value, scope));
  WEFT_OK(assign(node.target, value, scope));
  return Flow::on;
}

Result<Executor::Flow> Executor::node(const SetBlockNode& node, Scope& scope) {
  WEFT_ASSIGN(Scope * inner, scopes_.add(&scope));
  WEFT_ASSIGN(std::string content, capture(node.body, *inner));
  Value value = interpreter_.text(std::move(content));
  if (node.filter != nullptr) {
    WEFT_ASSIGN(value, evaluator_.filtered(*node.filter, value, *inner));
  }
  WEFT_OK(assign(node.target, value, scope));
  return Flow::on;
}

Result<Executor::Flow> Executor::node(const MacroStatement& node, Scope& scope) {
  scope.set(node.macro.name,
            Value(Kind::callable, interpreter_.heap().make<MacroObject>(0, Callable::What::macro,
                                                                        node.macro, scope)));
  return Flow::on;
}

Result<Executor::Flow> Executor::node(const CallBlockNode& node, Scope& scope) {
  const auto& call_node = std::get<CallNode>(node.call->node);
  WEFT_ASSIGN(const Value callee, evaluator_.evaluate(*call_node.callee, scope));
  WEFT_ASSIGN(Arguments arguments, evaluator_.arguments(call_node.arguments, scope));
  arguments.named.emplace_back(
      "caller", Value(Kind::callable, interpreter_.heap().make<MacroObject>(
                                          0, Callable::What::caller, node.caller, scope)));
  WEFT_ASSIGN(const Value value, interpreter_.call(callee, arguments));
  WEFT_OK(output_.write(to_str(value)));
  return Flow::on;
}

Result<Executor::Flow> Executor::node(const FilterBlockNode& node, Scope& scope) {
  WEFT_ASSIGN(Scope * inner, scopes_.add(&scope));
  WEFT_ASSIGN(std::string content, capture(node.body, *inner));
  WEFT_ASSIGN(const Value value,
              evaluator_.filtered(*node.filter, interpreter_.text(std::move(content)), *inner));
  WEFT_OK(output_.write(to_str(value)));
  return Flow::on;
}

Result<Executor::Flow> Executor::node(const WithNode& node, Scope& scope) {
  WEFT_ASSIGN(Scope * inner, scopes_.add(&scope));
  for (const auto& [target, value_node] : node.values) {
    WEFT_ASSIGN(const Value value,
                // The values of a `with` statement do not see the names that it sets.
                evaluator_.evaluate(*value_node, scope));
    WEFT_OK(assign(target, value, *inner));
  }
  return execute(node.body, *inner);
}

Result<Executor::Flow> Executor::node(const GroupNode& node, Scope& scope) {
  return execute(node.body, scope);
}
Result<Executor::Flow> Executor::node(const BreakNode&, Scope&) { return Flow::leave_loop; }
Result<Executor::Flow> Executor::node(const ContinueNode&, Scope&) { return Flow::next_round; }

}  // namespace weft::jinja
