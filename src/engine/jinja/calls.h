// Calls functions, methods, macros, loop(...), cyclers and joiners.
//
// Errors: as Evaluator's. Threading: one thread.
#pragma once

#include "common/base/result.h"
#include "engine/jinja/callable.h"
#include "engine/jinja/evaluator.h"
#include "engine/jinja/executor.h"
#include "engine/jinja/output.h"
#include "engine/jinja/scope.h"
#include "engine/jinja/value.h"

namespace weft::jinja {

class Calls {
 public:
  Calls(Interpreter& interpreter, Evaluator& evaluator, Executor& executor, Scopes& scopes,
        Output& output)
      : interpreter_(interpreter),
        evaluator_(evaluator),
        executor_(executor),
        scopes_(scopes),
        output_(output) {}

  [[nodiscard]] Result<Value> call(const Value& callee, const Arguments& arguments);

 private:
  [[nodiscard]] Result<Value> call_macro(const MacroObject& macro, const Arguments& arguments);
  // Sets the parameters of a macro, and the names varargs, kwargs and caller if the macro's body
  // uses them.
  [[nodiscard]] Result<> bind(const MacroNode& node, const Arguments& arguments, Scope& scope);
  [[nodiscard]] Result<Value> call_loop(LoopObject& loop, const Arguments& arguments);

  Interpreter& interpreter_;
  Evaluator& evaluator_;
  Executor& executor_;
  Scopes& scopes_;
  Output& output_;
};

}  // namespace weft::jinja
