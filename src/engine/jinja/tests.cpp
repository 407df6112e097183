// The tests: `value is name`.
#include "engine/jinja/interpreter.h"
#include "engine/jinja/print.h"
#include "engine/jinja/tables.h"
#include "engine/jinja/text_tools.h"

namespace weft::jinja {
namespace {

template <Kind kind>
Result<bool> is_kind(Interpreter&, const Value& value, const Arguments&) {
  return value.is(kind);
}
Result<bool> is_defined(Interpreter&, const Value& value, const Arguments&) {
  return !value.is(Kind::undefined);
}
Result<bool> is_number(Interpreter&, const Value& value, const Arguments&) {
  return value.is_number();
}
Result<bool> is_callable(Interpreter&, const Value& value, const Arguments&) {
  return value.is(Kind::callable) || value.is(Kind::undefined);
}
Result<bool> is_mapping(Interpreter&, const Value& value, const Arguments&) {
  return value.is(Kind::dict);
}
Result<bool> is_escaped(Interpreter&, const Value& value, const Arguments&) {
  return value.is_markup();
}
Result<bool> is_true_itself(Interpreter&, const Value& value, const Arguments&) {
  return value.is(Kind::boolean) && value.as_boolean();
}
Result<bool> is_false_itself(Interpreter&, const Value& value, const Arguments&) {
  return value.is(Kind::boolean) && !value.as_boolean();
}

Result<bool> is_iterable(Interpreter&, const Value& value, const Arguments&) {
  switch (value.kind()) {
    case Kind::undefined:
    case Kind::string:
    case Kind::list:
    case Kind::tuple:
    case Kind::dict:
    case Kind::view:
    case Kind::iterator:
      return true;
    case Kind::callable:
      return value.as_callable().what == Callable::What::loop;
    default:
      return false;
  }
}
Result<bool> is_sequence(Interpreter&, const Value& value, const Arguments&) {
  return value.is(Kind::undefined) || value.is(Kind::string) || value.is(Kind::list) ||
         value.is(Kind::tuple) || value.is(Kind::dict);
}

Result<bool> is_lower(Interpreter&, const Value& value, const Arguments&) {
  const std::string text = to_str(value);
  return to_lower(text) == text && to_upper(text) != text;
}
Result<bool> is_upper(Interpreter&, const Value& value, const Arguments&) {
  const std::string text = to_str(value);
  return to_upper(text) == text && to_lower(text) != text;
}

Result<bool> remainder_is(Interpreter& interpreter, const Value& value, const Value& divisor,
                          Integer wanted) {
  WEFT_ASSIGN(const Value remainder,
              apply_binary(interpreter, BinaryOperator::modulo, value, divisor));
  return are_equal(remainder, Value::integer(wanted));
}
Result<bool> is_odd(Interpreter& interpreter, const Value& value, const Arguments&) {
  return remainder_is(interpreter, value, Value::integer(2), 1);
}
Result<bool> is_even(Interpreter& interpreter, const Value& value, const Arguments&) {
  return remainder_is(interpreter, value, Value::integer(2), 0);
}
Result<bool> is_divisible(Interpreter& interpreter, const Value& value,
                          const Arguments& arguments) {
  WEFT_ASSIGN(const Given given, Given::bind(arguments, {"num"}));
  WEFT_ASSIGN(const Value divisor, given.required(0));
  return remainder_is(interpreter, value, divisor, 0);
}

Result<Value> other_of(const Arguments& arguments) {
  WEFT_ASSIGN(const Given given, Given::bind(arguments, {"other"}));
  return given.required(0);
}
Result<bool> equals(Interpreter&, const Value& value, const Arguments& arguments) {
  WEFT_ASSIGN(const Value other, other_of(arguments));
  return are_equal(value, other);
}
Result<bool> differs(Interpreter&, const Value& value, const Arguments& arguments) {
  WEFT_ASSIGN(const Value other, other_of(arguments));
  return !are_equal(value, other);
}
Result<bool> less(Interpreter&, const Value& value, const Arguments& arguments) {
  WEFT_ASSIGN(const Value other, other_of(arguments));
  return is_less(value, other);
}
Result<bool> greater(Interpreter&, const Value& value, const Arguments& arguments) {
  WEFT_ASSIGN(const Value other, other_of(arguments));
  return is_less(other, value);
}
Result<bool> less_or_equal(Interpreter&, const Value& value, const Arguments& arguments) {
  WEFT_ASSIGN(const Value other, other_of(arguments));
  WEFT_ASSIGN(const bool is_below, is_less(value, other));
  return is_below || are_equal(value, other);
}
Result<bool> greater_or_equal(Interpreter&, const Value& value, const Arguments& arguments) {
  WEFT_ASSIGN(const Value other, other_of(arguments));
  WEFT_ASSIGN(const bool is_above, is_less(other, value));
  return is_above || are_equal(value, other);
}
Result<bool> is_inside(Interpreter& interpreter, const Value& value, const Arguments& arguments) {
  WEFT_ASSIGN(const Value other, other_of(arguments));
  return contains(interpreter, other, value);
}
Result<bool> is_same(Interpreter&, const Value& value, const Arguments& arguments) {
  WEFT_ASSIGN(const Value other, other_of(arguments));
  if (value.kind() != other.kind()) return false;
  const bool is_scalar = value.is_number() || value.is(Kind::none) || value.is(Kind::undefined) ||
                         value.is(Kind::string);
  return is_scalar ? are_equal(value, other) : value.object() == other.object();
}

Result<bool> is_filter(Interpreter&, const Value& value, const Arguments&) {
  if (!is_hashable(value)) return fault("a {} is not a name", type_name(value));
  return value.is(Kind::string) && find_filter(value.as_text()) != nullptr;
}
Result<bool> is_test(Interpreter&, const Value& value, const Arguments&) {
  if (!is_hashable(value)) return fault("a {} is not a name", type_name(value));
  return value.is(Kind::string) && find_test(value.as_text()) != nullptr;
}

constexpr Row<Test> rows[] = {{"defined", is_defined},
                              {"undefined", is_kind<Kind::undefined>},
                              {"none", is_kind<Kind::none>},
                              {"boolean", is_kind<Kind::boolean>},
                              {"true", is_true_itself},
                              {"false", is_false_itself},
                              {"integer", is_kind<Kind::integer>},
                              {"float", is_kind<Kind::floating>},
                              {"number", is_number},
                              {"string", is_kind<Kind::string>},
                              {"mapping", is_mapping},
                              {"iterable", is_iterable},
                              {"sequence", is_sequence},
                              {"callable", is_callable},
                              {"escaped", is_escaped},
                              {"lower", is_lower},
                              {"upper", is_upper},
                              {"odd", is_odd},
                              {"even", is_even},
                              {"divisibleby", is_divisible},
                              {"equalto", equals},
                              {"eq", equals},
                              {"==", equals},
                              {"ne", differs},
                              {"!=", differs},
                              {"lt", less},
                              {"lessthan", less},
                              {"<", less},
                              {"gt", greater},
                              {"greaterthan", greater},
                              {">", greater},
                              {"le", less_or_equal},
                              {"<=", less_or_equal},
                              {"ge", greater_or_equal},
                              {">=", greater_or_equal},
                              {"in", is_inside},
                              {"sameas", is_same},
                              {"filter", is_filter},
                              {"test", is_test}};

}  // namespace

Test find_test(std::string_view name) { return find_row(rows, name); }

}  // namespace weft::jinja
