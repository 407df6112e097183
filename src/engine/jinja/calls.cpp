#include "engine/jinja/calls.h"

#include <algorithm>

#include "common/base/format.h"
#include "engine/jinja/interpreter.h"
#include "engine/jinja/print.h"
#include "engine/jinja/tables.h"

namespace weft::jinja {

Result<Value> Calls::call(const Value& callee, const Arguments& arguments) {
  if (callee.is(Kind::undefined)) return undefined_fault(callee);
  if (!callee.is(Kind::callable)) return fault("a {} cannot be called", type_name(callee));
  Callable& callable = callee.as_callable();
  switch (callable.what) {
    case Callable::What::function:
      return static_cast<FunctionObject&>(callable).function(interpreter_, arguments);
    case Callable::What::method: {
      const auto& method = static_cast<MethodObject&>(callable);
      return method.method(interpreter_, method.self, arguments);
    }
    case Callable::What::refused: {
      const auto& method = static_cast<MethodObject&>(callable);
      return fault("{}.{} would change its object, which templates may not", type_name(method.self),
                   method.name);
    }
    case Callable::What::macro:
    case Callable::What::caller:
      return call_macro(static_cast<MacroObject&>(callable), arguments);
    case Callable::What::loop:
      return call_loop(static_cast<LoopObject&>(callable), arguments);
    case Callable::What::cycler:
      return fault("a cycler is not called; its next() is");
    case Callable::What::joiner: {
      auto& joiner = static_cast<JoinerObject&>(callable);
      const bool first = !joiner.used;
      joiner.used = true;
      return first ? interpreter_.text("") : joiner.separator;
    }
  }
  return fault("this cannot be called");
}

Result<Value> Calls::call_macro(const MacroObject& macro, const Arguments& arguments) {
  WEFT_ASSIGN(Scope * scope, scopes_.add(&macro.scope));
  WEFT_OK(bind(macro.node, arguments, *scope));
  const std::uint32_t line = interpreter_.meter().line();
  WEFT_ASSIGN(std::string content, executor_.capture(macro.node.body, *scope));
  interpreter_.meter().at_line(line);
  return interpreter_.text(std::move(content));
}

Result<> Calls::bind(const MacroNode& node, const Arguments& arguments, Scope& scope) {
  const std::size_t positional = std::min(arguments.positional.size(), node.parameters.size());
  std::vector<std::pair<Value, Value>> more_named;
  std::vector<bool> given(node.parameters.size());
  for (std::size_t i = 0; i < positional; ++i) {
    scope.set(node.parameters[i].name, arguments.positional[i]);
    given[i] = true;
  }
  bool has_caller = false;
  for (const auto& [name, value] : arguments.named) {
    const auto parameter = std::ranges::find(node.parameters, name, &Parameter::name);
    if (parameter != node.parameters.end()) {
      const auto i = static_cast<std::size_t>(parameter - node.parameters.begin());
      if (given[i]) return fault("the macro '{}' got two values for '{}'", node.name, name);
      given[i] = true;
      scope.set(parameter->name, value);
    } else if (name == "caller" && node.uses_caller) {
      scope.set("caller", value);
      has_caller = true;
    } else if (node.uses_kwargs) {
      more_named.emplace_back(interpreter_.text(std::string(name)), value);
    } else {
      return fault("the macro '{}' takes no argument '{}'", node.name, name);
    }
  }
  for (std::size_t i = 0; i < node.parameters.size(); ++i) {
    if (given[i]) continue;
    Value value = interpreter_.heap().undefined(
        weft::format("parameter '{}' was not provided", node.parameters[i].name));
    if (node.parameters[i].otherwise != nullptr) {
      WEFT_ASSIGN(value, evaluator_.evaluate(*node.parameters[i].otherwise, scope));
    }
    scope.set(node.parameters[i].name, value);
  }
  if (arguments.positional.size() > node.parameters.size() && !node.uses_varargs)
    return fault("the macro '{}' takes not more than {} arguments", node.name,
                 node.parameters.size());
  if (node.uses_varargs) {
    WEFT_ASSIGN(const Value rest,
                interpreter_.heap().tuple(
                    {arguments.positional.begin() + static_cast<std::ptrdiff_t>(positional),
                     arguments.positional.end()}));
    scope.set("varargs", rest);
  }
  if (node.uses_kwargs) {
    WEFT_ASSIGN(const Value rest, interpreter_.heap().dict(std::move(more_named)));
    scope.set("kwargs", rest);
  }
  if (node.uses_caller && !has_caller)
    scope.set("caller", interpreter_.heap().undefined("No caller defined"));
  return {};
}

Result<Value> Calls::call_loop(LoopObject& loop, const Arguments& arguments) {
  if (!loop.node.recursive) return fault("loop(...) works only in a loop that is 'recursive'");
  WEFT_ASSIGN(const Given given, Given::bind(arguments, {"iterable"}));
  WEFT_ASSIGN(const Value iterable, given.required(0));
  Output::Apart apart(output_);
  const Meter::Level level(
      // Counts a level of depth, because each recursion runs the whole body within the outer loop.
      interpreter_.meter());
  WEFT_OK(executor_.run_loop(loop.node, loop.scope, iterable, loop.depth0 + 1));
  return interpreter_.text(apart.take());
}

Result<Given> Given::bind(const Arguments& arguments,
                          std::initializer_list<std::string_view> parameters) {
  Given given;
  given.names_ = parameters;
  given.values_.resize(parameters.size());
  if (arguments.positional.size() > parameters.size())
    return fault("{} arguments are given; at most {} are taken", arguments.positional.size(),
                 parameters.size());
  std::ranges::copy(arguments.positional, given.values_.begin());
  for (const auto& [name, value] : arguments.named) {
    const auto at =
        static_cast<std::size_t>(std::ranges::find(given.names_, name) - given.names_.begin());
    if (at == given.names_.size()) return fault("there is no argument '{}' here", name);
    if (given.values_[at]) return fault("the argument '{}' is given twice", name);
    given.values_[at] = value;
  }
  return given;
}

Result<Integer> Given::integer_or(std::size_t i, Integer otherwise) const {
  if (!values_[i]) return otherwise;
  if (!values_[i]->is_integral())
    return fault("the argument '{}' is a {}, not an int", names_[i], type_name(*values_[i]));
  return values_[i]->as_integer();
}

Result<Value> Given::required(std::size_t i) const {
  if (!values_[i]) return fault("the argument '{}' is missing", names_[i]);
  return *values_[i];
}

Result<std::string_view> Given::required_text(std::size_t i) const {
  WEFT_ASSIGN(const Value value, required(i));
  if (value.is(Kind::undefined)) return undefined_fault(value);
  if (!value.is(Kind::string))
    return fault("the argument '{}' is a {}, not a str", names_[i], type_name(value));
  return value.as_text();
}

}  // namespace weft::jinja
