// The built-in functions of templates.
#include <algorithm>

#include "engine/jinja/interpreter.h"
#include "engine/jinja/print.h"
#include "engine/jinja/tables.h"

namespace weft::jinja {
namespace {

Result<Value> range(Interpreter& interpreter, const Arguments& arguments) {
  if (!arguments.named.empty() || arguments.positional.empty() || arguments.positional.size() > 3)
    return fault("range takes one to three numbers");
  Integer numbers[3] = {0, 0, 1};
  for (std::size_t i = 0; i < arguments.positional.size(); ++i) {
    if (arguments.positional[i].is(Kind::undefined))
      return undefined_fault(arguments.positional[i]);
    if (!arguments.positional[i].is_integral())
      return fault("range takes integers, not a {}", type_name(arguments.positional[i]));
    numbers[i] = arguments.positional[i].as_integer();
  }
  if (arguments.positional.size() == 1) std::swap(numbers[0], numbers[1]);
  const auto [first, end, step] = numbers;
  if (step == 0) return fault("range cannot take steps of 0");
  constexpr Integer count_max = 100'000;  // The limit of a range in jinja2's sandbox.
  Integer distance = 0;
  if (__builtin_sub_overflow(end, first, &distance))
    return fault("a range has more than {} elements", 100'000);
  const Integer steps = step > 0 ? (distance > 0 ? (distance - 1) / step + 1 : 0)
                                 : (distance < 0 ? (distance + 1) / step + 1 : 0);
  if (steps > count_max) return fault("a range has more than {} elements", 100'000);
  WEFT_OK(interpreter.charge(static_cast<std::uint64_t>(steps) * sizeof(Value)));
  std::vector<Value> items;
  for (Integer i = 0, value = first; i < steps; ++i, value += step)
    items.push_back(Value::integer(value));
  return interpreter.heap().list(std::move(items));
}

// The function dict: dict(a=1), dict({...}, b=2), dict([("k", 1)]).
Result<Value> dict(Interpreter& interpreter, const Arguments& arguments) {
  std::vector<std::pair<Value, Value>> items;
  if (arguments.positional.size() > 1)
    return fault("dict takes at most one argument without a name");
  if (arguments.positional.size() == 1) {
    const Value& given = arguments.positional[0];
    if (given.is(Kind::dict)) {
      items = given.as_dict().items;
    } else {
      WEFT_ASSIGN(const std::vector<Value> pairs, interpreter.elements_of(given));
      for (const Value& pair : pairs) {
        WEFT_ASSIGN(const std::vector<Value> two, interpreter.elements_of(pair));
        if (two.size() != 2 || !is_hashable(two[0]))
          return fault("dict takes pairs of a key and a value");
        items.emplace_back(two[0], two[1]);
      }
    }
  }
  for (const auto& [name, value] : arguments.named)
    items.emplace_back(interpreter.text(std::string(name)), value);
  WEFT_OK(interpreter.charge(items.size() * 2 * sizeof(Value)));
  return interpreter.heap().dict(std::move(items));
}

Result<Value> name_space(Interpreter& interpreter, const Arguments& arguments) {
  WEFT_ASSIGN(const Value fields, dict(interpreter, arguments));
  auto* made =
      interpreter.heap().make<Namespace>(fields.as_dict().items.size() * sizeof(Value) * 2);
  for (const auto& [key, value] : fields.as_dict().items) {
    if (!key.is(Kind::string)) return fault("a namespace's names are texts");
    made->fields.emplace_back(key.as_text(), value);
  }
  return Value(Kind::name_space, made);
}

Result<Value> cycler(Interpreter& interpreter, const Arguments& arguments) {
  if (arguments.positional.empty()) return fault("at least one item has to be provided");
  return Value(Kind::callable,
               interpreter.heap().make<CyclerObject>(arguments.positional.size() * sizeof(Value),
                                                     arguments.positional));
}

Result<Value> joiner(Interpreter& interpreter, const Arguments& arguments) {
  WEFT_ASSIGN(const Given given, Given::bind(arguments, {"sep"}));
  return Value(Kind::callable,
               interpreter.heap().make<JoinerObject>(0, given.value_or(0, interpreter.text(", "))));
}

Result<Value> raise_exception(Interpreter& interpreter, const Arguments& arguments) {
  WEFT_ASSIGN(const Given given, Given::bind(arguments, {"message"}));
  WEFT_ASSIGN(const Value message, given.required(0));
  return interpreter.refuse(to_str(message));
}

Result<Value> strftime_now(Interpreter& interpreter, const Arguments& arguments) {
  WEFT_ASSIGN(const Given given, Given::bind(arguments, {"format"}));
  WEFT_ASSIGN(const std::string_view format, given.required_text(0));
  WEFT_OK(interpreter.charge(format.size() * 32));
  return interpreter.text(format_time(format, interpreter.now()));
}

constexpr Row<Function> rows[] = {{"range", range},
                                  {"dict", dict},
                                  {"namespace", name_space},
                                  {"cycler", cycler},
                                  {"joiner", joiner},
                                  {"raise_exception", raise_exception},
                                  {"strftime_now", strftime_now}};

}  // namespace

Function find_function(std::string_view name) { return find_row(rows, name); }

}  // namespace weft::jinja
