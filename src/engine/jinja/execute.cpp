// Statements, and what bounds a rendering.
#include "common/base/format.h"
#include "engine/jinja/interpreter.h"
#include "engine/jinja/print.h"
#include "engine/jinja/tables.h"

namespace weft::jinja {

const Value* Scope::find(std::string_view name) const {
  for (const auto& [key, value] : names)
    if (key == name) return &value;
  return nullptr;
}
void Scope::set(std::string_view name, Value value) {
  for (auto& [key, held] : names) {
    if (key == name) {
      held = value;
      return;
    }
  }
  names.emplace_back(name, value);
}

Result<std::string> Interpreter::run() {
  WEFT_ASSIGN(Scope * scope, new_scope(nullptr));
  const auto done = execute(ast_.root, *scope);
  if (done) return std::move(output_);
  if (refused_) return std::unexpected(Error{ErrorCode::permission_denied, done.error().message});
  return std::unexpected(Error{
      done.error().code, weft::format("The template's line {}: {}.", line_, done.error().message)});
}

std::unexpected<Error> Interpreter::refuse(std::string message) {
  refused_ = true;
  return std::unexpected(Error{ErrorCode::permission_denied, std::move(message)});
}

Result<> Interpreter::step() {
  const RenderLimits& limits = options_.limits;
  if (++steps_ > limits.steps_max)
    return fail(ErrorCode::resource_exhausted,
                "it takes more than {} steps (RenderLimits::steps_max)", limits.steps_max);
  if (depth_ > limits.depth_max)
    return fail(ErrorCode::resource_exhausted,
                "it nests deeper than {} levels (RenderLimits::depth_max)", limits.depth_max);
  return charge(0);
}

Result<> Interpreter::charge(std::uint64_t bytes) {
  const RenderLimits& limits = options_.limits;
  steps_ += bytes / 64;  // Work that grows with a text's length counts as steps, too.
  if (bytes > limits.memory_bytes_max || heap_.bytes() > limits.memory_bytes_max - bytes)
    return fail(ErrorCode::resource_exhausted,
                "it needs more than {} bytes (RenderLimits::memory_bytes_max)",
                limits.memory_bytes_max);
  if (steps_ > limits.steps_max)
    return fail(ErrorCode::resource_exhausted,
                "it takes more than {} steps (RenderLimits::steps_max)", limits.steps_max);
  return {};
}

Result<> Interpreter::write(std::string_view text) {
  const std::size_t max = options_.limits.output_bytes_max;
  if (text.size() > max || out_->size() > max - text.size())
    return fail(ErrorCode::resource_exhausted,
                "it writes more than {} bytes (RenderLimits::output_bytes_max)", max);
  *out_ += text;
  return {};
}

Result<Scope*> Interpreter::new_scope(Scope* parent) {
  heap_.charge(sizeof(Scope));
  WEFT_OK(charge(0));
  return &scopes_.emplace_back(parent);
}

Result<std::string> Interpreter::capture(const Block& block, Scope& scope) {
  std::string text;
  std::string* const before = out_;
  out_ = &text;
  auto done = execute(block, scope);
  out_ = before;
  if (!done) return pass(std::move(done));
  WEFT_OK(charge(text.size()));
  return text;
}

Result<Interpreter::Flow> Interpreter::execute(const Block& block, Scope& scope) {
  ++depth_;
  Flow flow = Flow::on;
  for (const Statement* statement : block) {
    WEFT_OK(step());  // The depth does not matter any more when this fails.
    line_ = statement->line;
    WEFT_ASSIGN(flow, std::visit([&](const auto& node) { return execute_node(node, scope); },
                                 statement->node));
    if (flow != Flow::on) break;
  }
  --depth_;
  return flow;
}

Result<Interpreter::Flow> Interpreter::execute_node(const TextNode& node, Scope&) {
  WEFT_OK(write(node.text));
  return Flow::on;
}

Result<Interpreter::Flow> Interpreter::execute_node(const PrintNode& node, Scope& scope) {
  WEFT_ASSIGN(const Value value, evaluate(*node.value, scope));
  if (value.is(Kind::string)) {
    WEFT_OK(write(value.as_text()));
  } else {
    WEFT_OK(write(to_str(value)));
  }
  return Flow::on;
}

Result<Interpreter::Flow> Interpreter::execute_node(const IfNode& node, Scope& scope) {
  for (const auto& [condition, body] : node.branches) {
    WEFT_ASSIGN(const Value value, evaluate(*condition, scope));
    if (is_true(value)) return execute(body, scope);
  }
  return execute(node.otherwise, scope);
}

Result<Interpreter::Flow> Interpreter::execute_node(const ForNode& node, Scope& scope) {
  WEFT_ASSIGN(const Value iterable, evaluate(*node.iterable, scope));
  WEFT_OK(run_loop(node, scope, iterable, 0));
  return Flow::on;
}

Result<> Interpreter::run_loop(const ForNode& node, Scope& around, const Value& iterable,
                               Integer depth0) {
  WEFT_ASSIGN(std::vector<Value> items, elements_of(iterable));
  if (node.condition != nullptr) {
    std::vector<Value> kept;
    WEFT_ASSIGN(Scope * scope, new_scope(&around));
    for (const Value& item : items) {
      WEFT_OK(assign(node.target, item, *scope));
      WEFT_ASSIGN(const Value value, evaluate(*node.condition, *scope));
      if (is_true(value)) kept.push_back(item);
    }
    items = std::move(kept);
  }
  WEFT_OK(charge(items.size() * sizeof(Value)));
  auto* loop =
      heap_.make<LoopObject>(items.size() * sizeof(Value), node, around, std::move(items), depth0);
  WEFT_ASSIGN(Scope * scope, new_scope(&around));
  bool completed = false;
  for (loop->index0 = 0; loop->index0 < loop->items.size(); ++loop->index0) {
    scope->names.clear();
    scope->set("loop", Value(Kind::callable, loop));
    WEFT_OK(assign(node.target, loop->items[loop->index0], *scope));
    WEFT_ASSIGN(const Flow flow, execute(node.body, *scope));
    if (flow == Flow::leave_loop) break;
    completed = completed || flow == Flow::on;
  }
  if (!completed) {  // As in jinja2, `else` also runs when every round was left by break or
                     // continue.
    WEFT_ASSIGN(Scope * other, new_scope(&around));
    WEFT_OK(execute(node.otherwise, *other));
  }
  return {};
}

Result<> Interpreter::assign(const Target& target, const Value& value, Scope& scope) {
  if (!target.parts.empty()) {
    WEFT_ASSIGN(const std::vector<Value> items, elements_of(value));
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
  WEFT_ASSIGN(const Value object, evaluate_node(NameNode{target.name}, scope));
  if (!object.is(Kind::name_space))
    return fault("'{}' is not a namespace, so its attributes cannot be assigned", target.name);
  auto& fields = object.as_namespace().fields;
  for (auto& [name, held] : fields) {
    if (name == target.field) {
      held = value;
      return {};
    }
  }
  heap_.charge(target.field.size() + sizeof(Value));
  fields.emplace_back(target.field, value);
  return {};
}

Result<Interpreter::Flow> Interpreter::execute_node(const SetNode& node, Scope& scope) {
  WEFT_ASSIGN(const Value value, evaluate(*node.value, scope));
  WEFT_OK(assign(node.target, value, scope));
  return Flow::on;
}

Result<Interpreter::Flow> Interpreter::execute_node(const SetBlockNode& node, Scope& scope) {
  WEFT_ASSIGN(Scope * inner, new_scope(&scope));
  WEFT_ASSIGN(std::string content, capture(node.body, *inner));
  Value value = text(std::move(content));
  if (node.filter != nullptr) {
    WEFT_ASSIGN(value, evaluate_filter(*node.filter, value, *inner));
  }
  WEFT_OK(assign(node.target, value, scope));
  return Flow::on;
}

Result<Interpreter::Flow> Interpreter::execute_node(const MacroStatement& node, Scope& scope) {
  scope.set(node.macro.name, Value(Kind::callable, heap_.make<MacroObject>(0, Callable::What::macro,
                                                                           node.macro, scope)));
  return Flow::on;
}

Result<Interpreter::Flow> Interpreter::execute_node(const CallBlockNode& node, Scope& scope) {
  const auto& call_node = std::get<CallNode>(node.call->node);
  WEFT_ASSIGN(const Value callee, evaluate(*call_node.callee, scope));
  WEFT_ASSIGN(Arguments arguments, evaluate_arguments(call_node.arguments, scope));
  arguments.named.emplace_back(
      "caller", Value(Kind::callable,
                      heap_.make<MacroObject>(0, Callable::What::caller, node.caller, scope)));
  WEFT_ASSIGN(const Value value, call(callee, arguments));
  WEFT_OK(write(to_str(value)));
  return Flow::on;
}

Result<Interpreter::Flow> Interpreter::execute_node(const FilterBlockNode& node, Scope& scope) {
  WEFT_ASSIGN(Scope * inner, new_scope(&scope));
  WEFT_ASSIGN(std::string content, capture(node.body, *inner));
  WEFT_ASSIGN(const Value value, evaluate_filter(*node.filter, text(std::move(content)), *inner));
  WEFT_OK(write(to_str(value)));
  return Flow::on;
}

Result<Interpreter::Flow> Interpreter::execute_node(const WithNode& node, Scope& scope) {
  WEFT_ASSIGN(Scope * inner, new_scope(&scope));
  for (const auto& [target, value_node] : node.values) {
    WEFT_ASSIGN(const Value value,
                evaluate(*value_node, scope));  // The values do not see one another.
    WEFT_OK(assign(target, value, *inner));
  }
  return execute(node.body, *inner);
}

Result<Interpreter::Flow> Interpreter::execute_node(const GroupNode& node, Scope& scope) {
  return execute(node.body, scope);
}
Result<Interpreter::Flow> Interpreter::execute_node(const BreakNode&, Scope&) {
  return Flow::leave_loop;
}
Result<Interpreter::Flow> Interpreter::execute_node(const ContinueNode&, Scope&) {
  return Flow::next_round;
}

}  // namespace weft::jinja
