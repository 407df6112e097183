// The filters, tests and functions by name. Private to the interpreter.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/format.h"
#include "common/base/result.h"
#include "engine/jinja/callable.h"
#include "engine/jinja/interpreter.h"
#include "engine/jinja/value.h"

namespace weft::jinja {

// The arguments of a filter or method, by position or by name, in the order of its parameters. A
// parameter without an argument is nullopt.
class Given {
 public:
  // Fails if there are too many arguments or an argument's name is not a parameter.
  [[nodiscard]] static Result<Given> bind(const Arguments& arguments,
                                          std::initializer_list<std::string_view> parameters);

  [[nodiscard]] bool has(std::size_t i) const { return values_[i].has_value(); }
  [[nodiscard]] const std::optional<Value>& operator[](std::size_t i) const { return values_[i]; }
  [[nodiscard]] Value value_or(std::size_t i, Value otherwise) const {
    return values_[i].value_or(otherwise);
  }
  [[nodiscard]] bool is_true_or(std::size_t i, bool otherwise) const {
    return values_[i] ? is_true(*values_[i]) : otherwise;
  }
  [[nodiscard]] Result<Integer> integer_or(std::size_t i, Integer otherwise) const;
  [[nodiscard]] Result<Value> required(std::size_t i) const;
  [[nodiscard]] Result<std::string_view> required_text(std::size_t i) const;

 private:
  std::vector<std::optional<Value>> values_;
  std::vector<std::string_view> names_;
};

using Filter = Result<Value> (*)(Interpreter& interpreter, const Value& input,
                                 const Arguments& arguments);
using Test = Result<bool> (*)(Interpreter& interpreter, const Value& input,
                              const Arguments& arguments);

template <class Code>
struct Row {
  std::string_view name;
  Code code;
};
template <class Rows>
[[nodiscard]] auto find_row(const Rows& rows, std::string_view name) -> decltype(rows[0].code) {
  for (const auto& row : rows)
    if (row.name == name) return row.code;
  return nullptr;
}

// The find functions return nullptr for an unknown name.
[[nodiscard]] Filter find_filter(std::string_view name);
[[nodiscard]] Filter find_text_filter(std::string_view name);
[[nodiscard]] Filter find_sequence_filter(std::string_view name);
[[nodiscard]] Filter find_choice_filter(std::string_view name);
[[nodiscard]] Filter find_number_filter(std::string_view name);
[[nodiscard]] Test find_test(std::string_view name);
[[nodiscard]] Function find_function(std::string_view name);

// Methods of strings, dicts, lists and numbers. A method that changes its object has a row without
// a function, so that the call is refused.
struct MethodRow {
  std::string_view name;
  Method method;  // nullptr for a method that changes its object.
};
[[nodiscard]] const MethodRow* find_method(const Value& object, std::string_view name);
[[nodiscard]] const MethodRow* find_string_method(std::string_view name);

// Functions that are defined in operators.cpp.
[[nodiscard]] Result<Value> apply_binary(Interpreter& interpreter, BinaryOperator op,
                                         const Value& left, const Value& right);
[[nodiscard]] Result<Value> apply_unary(UnaryOperator op, const Value& operand);
[[nodiscard]] Result<bool> contains(Interpreter& interpreter, const Value& container,
                                    const Value& element);

// The functions of format.cpp, for "..." % values and "...".format(...).
[[nodiscard]] Result<std::string> format_percent(Interpreter& interpreter, std::string_view format,
                                                 const Value& values);
[[nodiscard]] Result<std::string> format_braces(Interpreter& interpreter, std::string_view format,
                                                const Arguments& arguments);

// Makes an error about the operation that the template runs; the interpreter adds the line.
template <class... Args>
[[nodiscard]] std::unexpected<Error> fault(FormatString<Args...> format, Args&&... args) {
  return fail(ErrorCode::invalid_argument, format, std::forward<Args>(args)...);
}
[[nodiscard]] inline std::unexpected<Error> undefined_fault(const Value& value) {
  return fault("{}", value.hint());
}

}  // namespace weft::jinja
