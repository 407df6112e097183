#include "engine/jinja/interpreter.h"

#include "common/base/format.h"
#include "engine/jinja/tables.h"

namespace weft::jinja {

Interpreter::Interpreter(const Ast& ast, const Value& variables, const RenderOptions& options)
    : ast_(ast),
      now_(options.now),
      meter_(options.limits, heap_),
      scopes_(heap_, meter_),
      output_(options.limits.output_bytes_max),
      evaluator_(*this, variables),
      executor_(*this, evaluator_, scopes_, output_),
      calls_(*this, evaluator_, executor_, scopes_, output_) {}

Result<std::string> Interpreter::run() {
  WEFT_ASSIGN(Scope * scope, scopes_.add(nullptr));
  const auto done = executor_.execute(ast_.root, *scope);
  if (done) return output_.take();
  if (refused_) return std::unexpected(Error{ErrorCode::permission_denied, done.error().message});
  return std::unexpected(
      Error{done.error().code,
            weft::format("The template's line {}: {}.", meter_.line(), done.error().message)});
}

std::unexpected<Error> Interpreter::refuse(std::string message) {
  refused_ = true;
  return std::unexpected(Error{ErrorCode::permission_denied, std::move(message)});
}

Result<Value> Interpreter::apply_filter(std::string_view name, const Value& input,
                                        const Arguments& arguments) {
  const Filter filter = find_filter(name);
  if (filter == nullptr) return fault("no filter is named '{}'", name);
  WEFT_OK(meter_.step());
  return filter(*this, input, arguments);
}

Result<bool> Interpreter::apply_test(std::string_view name, const Value& input,
                                     const Arguments& arguments) {
  const Test test = find_test(name);
  if (test == nullptr) return fault("no test is named '{}'", name);
  WEFT_OK(meter_.step());
  return test(*this, input, arguments);
}

}  // namespace weft::jinja
