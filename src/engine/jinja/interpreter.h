// Runs a parsed template, with one Interpreter for each rendering. It owns the values that a
// rendering makes and connects the parts that run it: Evaluator (expressions), Executor
// (statements) and Calls. Operators, filters, tests, methods and functions are free functions; they
// use the Interpreter to make values, to count work and to call back.
//
// Errors: as Template::render. Threading: one thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/result.h"
#include "engine/jinja/access.h"
#include "engine/jinja/ast.h"
#include "engine/jinja/callable.h"
#include "engine/jinja/calls.h"
#include "engine/jinja/evaluator.h"
#include "engine/jinja/executor.h"
#include "engine/jinja/meter.h"
#include "engine/jinja/output.h"
#include "engine/jinja/scope.h"
#include "engine/jinja/template.h"
#include "engine/jinja/value.h"

namespace weft::jinja {

class Interpreter {
 public:
  Interpreter(const Ast& ast, const Value& variables, const RenderOptions& options);
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;

  Result<std::string> run();

  [[nodiscard]] Heap& heap() { return heap_; }
  [[nodiscard]] Meter& meter() { return meter_; }
  [[nodiscard]] const WallTime& now() const { return now_; }
  [[nodiscard]] Value text(std::string value) { return heap_.string(std::move(value)); }
  [[nodiscard]] Result<> charge(std::uint64_t bytes) { return meter_.charge(bytes); }
  [[nodiscard]] Result<std::vector<Value>> elements_of(const Value& value) {
    return jinja::elements_of(*this, value);
  }
  [[nodiscard]] Result<Value> attribute(const Value& object, std::string_view name) {
    return attribute_of(*this, object, name);
  }
  [[nodiscard]] Result<Value> subscript(const Value& object, const Value& index) {
    return element_of(*this, object, index);
  }
  [[nodiscard]] Result<Value> call(const Value& callee, const Arguments& arguments) {
    return calls_.call(callee, arguments);
  }
  [[nodiscard]] Result<Value> apply_filter(std::string_view name, const Value& input,
                                           const Arguments& arguments);
  [[nodiscard]] Result<bool> apply_test(std::string_view name, const Value& input,
                                        const Arguments& arguments);
  // Makes the error of raise_exception and remembers that the template itself raised it.
  [[nodiscard]] std::unexpected<Error> refuse(std::string message);

 private:
  const Ast& ast_;
  const WallTime now_;
  bool refused_ = false;
  Heap heap_;
  Meter meter_;
  Scopes scopes_;
  Output output_;
  Evaluator evaluator_;
  Executor executor_;
  Calls calls_;
};

}  // namespace weft::jinja
