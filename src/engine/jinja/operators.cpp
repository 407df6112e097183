// The operators: arithmetic, + and * of texts and lists, and `in`.
#include <cmath>
#include <limits>

#include "engine/jinja/interpreter.h"
#include "engine/jinja/print.h"
#include "engine/jinja/tables.h"
#include "engine/jinja/text_tools.h"

namespace weft::jinja {
namespace {

std::unexpected<Error> no_operation(std::string_view symbol, const Value& left,
                                    const Value& right) {
  if (left.is(Kind::undefined)) return undefined_fault(left);
  if (right.is(Kind::undefined)) return undefined_fault(right);
  return fault("'{}' does not work between {} and {}", symbol, type_name(left), type_name(right));
}
std::unexpected<Error> too_large() { return fault("an integer becomes too large (2^127)"); }

std::string_view symbol_of(BinaryOperator op) {
  switch (op) {
    case BinaryOperator::add:
      return "+";
    case BinaryOperator::subtract:
      return "-";
    case BinaryOperator::multiply:
      return "*";
    case BinaryOperator::divide:
      return "/";
    case BinaryOperator::floor_divide:
      return "//";
    case BinaryOperator::modulo:
      return "%";
    case BinaryOperator::power:
      return "**";
    case BinaryOperator::logical_and:
      return "and";
    case BinaryOperator::logical_or:
      return "or";
  }
  return "?";
}

Result<Value> integer_power(Integer base, Integer exponent) {
  if (exponent < 0) {
    if (base == 0) return fault("0 has no negative power");
    return Value::floating(std::pow(static_cast<double>(base), static_cast<double>(exponent)));
  }
  Integer result = 1;
  while (exponent > 0) {
    if ((exponent & 1) != 0 && __builtin_mul_overflow(result, base, &result)) return too_large();
    exponent >>= 1;
    if (exponent > 0 && __builtin_mul_overflow(base, base, &base)) return too_large();
  }
  return Value::integer(result);
}

// Divides and rounds down as Python does; C++ rounds towards zero.
Integer floor_quotient(Integer a, Integer b) {
  return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
}
Integer floor_remainder(Integer a, Integer b) {
  const Integer remainder = a % b;
  return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
}

Result<Value> integer_operation(BinaryOperator op, Integer a, Integer b) {
  Integer result = 0;
  switch (op) {
    case BinaryOperator::add:
      if (__builtin_add_overflow(a, b, &result)) return too_large();
      return Value::integer(result);
    case BinaryOperator::subtract:
      if (__builtin_sub_overflow(a, b, &result)) return too_large();
      return Value::integer(result);
    case BinaryOperator::multiply:
      if (__builtin_mul_overflow(a, b, &result)) return too_large();
      return Value::integer(result);
    case BinaryOperator::power:
      return integer_power(a, b);
    default:
      break;
  }
  if (b == 0) return fault("a division by zero");
  if (op == BinaryOperator::divide)
    return Value::floating(static_cast<double>(a) / static_cast<double>(b));
  if (b == -1) {  // Dividing by -1 is the one case that may overflow.
    if (op == BinaryOperator::modulo) return Value::integer(0);
    if (__builtin_sub_overflow(Integer{0}, a, &result)) return too_large();
    return Value::integer(result);
  }
  return Value::integer(op == BinaryOperator::modulo ? floor_remainder(a, b)
                                                     : floor_quotient(a, b));
}

Result<Value> floating_operation(BinaryOperator op, double a, double b) {
  switch (op) {
    case BinaryOperator::add:
      return Value::floating(a + b);
    case BinaryOperator::subtract:
      return Value::floating(a - b);
    case BinaryOperator::multiply:
      return Value::floating(a * b);
    case BinaryOperator::power:
      if (a == 0 && b < 0) return fault("0 has no negative power");
      if (a < 0 && std::isfinite(b) && b != std::floor(b))
        return fault("a negative number has no such power");
      if (std::isfinite(a) && std::isfinite(b) && !std::isfinite(std::pow(a, b)))
        return fault("a power becomes too large");
      return Value::floating(std::pow(a, b));
    default:
      break;
  }
  if (b == 0) return fault("a division by zero");
  if (op == BinaryOperator::divide) return Value::floating(a / b);
  double remainder = std::fmod(a, b);
  if (remainder != 0 && (remainder < 0) != (b < 0)) remainder += b;
  if (op == BinaryOperator::modulo)
    return Value::floating(remainder == 0 ? std::copysign(0.0, b) : remainder);
  return Value::floating(std::floor((a - remainder) / b + 0.5));
}

Result<Value> repeat(Interpreter& interpreter, const Value& what, Integer times) {
  const bool is_text = what.is(Kind::string);
  const std::size_t size = is_text ? what.as_text().size() : what.items().size();
  if (times < 0 || size == 0) times = 0;
  constexpr Integer times_max = std::numeric_limits<std::int32_t>::max();
  WEFT_OK(interpreter.charge(times > times_max ? std::numeric_limits<std::uint64_t>::max()
                                               : static_cast<std::uint64_t>(times) * size *
                                                     (is_text ? 1 : sizeof(Value))));
  if (is_text) {
    std::string text;
    text.reserve(size * static_cast<std::size_t>(times));
    for (Integer i = 0; i < times; ++i) text += what.as_text();
    return interpreter.heap().string(std::move(text), what.is_markup());
  }
  std::vector<Value> items;
  for (Integer i = 0; i < times; ++i)
    items.insert(items.end(), what.items().begin(), what.items().end());
  return what.is(Kind::tuple) ? interpreter.heap().tuple(std::move(items))
                              : interpreter.heap().list(std::move(items));
}

Result<Value> join_two(Interpreter& interpreter, const Value& left, const Value& right) {
  if (left.is(Kind::string)) {
    WEFT_OK(interpreter.charge(left.as_text().size() + right.as_text().size()));
    // If one text is marked as HTML, the other text is escaped.
    const bool markup = left.is_markup() || right.is_markup();
    const auto part = [&](const Value& value) {
      return markup && !value.is_markup() ? escape_html(value.as_text())
                                          : std::string(value.as_text());
    };
    return interpreter.heap().string(part(left) + part(right), markup);
  }
  WEFT_OK(interpreter.charge((left.items().size() + right.items().size()) * sizeof(Value)));
  std::vector<Value> items(left.items().begin(), left.items().end());
  items.insert(items.end(), right.items().begin(), right.items().end());
  return left.is(Kind::tuple) ? interpreter.heap().tuple(std::move(items))
                              : interpreter.heap().list(std::move(items));
}

}  // namespace

Result<Value> apply_binary(Interpreter& interpreter, BinaryOperator op, const Value& left,
                           const Value& right) {
  if (left.is_integral() && right.is_integral())
    return integer_operation(op, left.as_integer(), right.as_integer());
  if (left.is_number() && right.is_number())
    return floating_operation(op, left.as_number(), right.as_number());
  const bool repeatable = left.is(Kind::string) || left.is(Kind::list) || left.is(Kind::tuple);
  if (op == BinaryOperator::add && repeatable && left.kind() == right.kind())
    return join_two(interpreter, left, right);
  if (op == BinaryOperator::multiply && repeatable && right.is_integral())
    return repeat(interpreter, left, right.as_integer());
  if (op == BinaryOperator::multiply && left.is_integral() &&
      (right.is(Kind::string) || right.is(Kind::list) || right.is(Kind::tuple)))
    return repeat(interpreter, right, left.as_integer());
  if (op == BinaryOperator::modulo && left.is(Kind::string)) {
    WEFT_ASSIGN(std::string text, format_percent(interpreter, left.as_text(), right));
    return interpreter.heap().string(std::move(text), left.is_markup());
  }
  return no_operation(symbol_of(op), left, right);
}

Result<Value> apply_unary(UnaryOperator op, const Value& operand) {
  if (op == UnaryOperator::logical_not) return Value::boolean(!is_true(operand));
  if (operand.is_integral()) {
    if (op == UnaryOperator::plus) return Value::integer(operand.as_integer());
    return integer_operation(BinaryOperator::subtract, 0, operand.as_integer());
  }
  if (operand.is(Kind::floating))
    return Value::floating(op == UnaryOperator::plus ? operand.as_floating()
                                                     : -operand.as_floating());
  if (operand.is(Kind::undefined)) return undefined_fault(operand);
  return fault("a {} has no sign", type_name(operand));
}

Result<bool> contains(Interpreter& interpreter, const Value& container, const Value& element) {
  switch (container.kind()) {
    case Kind::string:
      if (element.is(Kind::undefined)) return undefined_fault(element);
      if (!element.is(Kind::string))
        return fault("'in' a str needs a str, not a {}", type_name(element));
      WEFT_OK(interpreter.charge(container.as_text().size() / 16));
      return container.as_text().find(element.as_text()) != std::string_view::npos;
    case Kind::dict:
      if (!is_hashable(element)) return fault("a {} cannot be a key", type_name(element));
      return container.as_dict().find(element) != nullptr;
    case Kind::undefined:
      return false;
    case Kind::list:
    case Kind::tuple:
    case Kind::view:
    case Kind::iterator: {
      WEFT_ASSIGN(const std::vector<Value> items, interpreter.elements_of(container));
      for (const Value& item : items)
        if (are_equal(item, element)) return true;
      return false;
    }
    default:
      return fault("a {} cannot be searched with 'in'", type_name(container));
  }
}

}  // namespace weft::jinja
