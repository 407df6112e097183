// Methods of dicts, lists, tuples, numbers and the small objects. string_methods.cpp has those of
// strings.
#include <algorithm>
#include <cmath>

#include "engine/jinja/interpreter.h"
#include "engine/jinja/tables.h"

namespace weft::jinja {
namespace {

Result<Value> dict_get(Interpreter&, const Value& self, const Arguments& arguments) {
  WEFT_ASSIGN(const Given given, Given::bind(arguments, {"key", "default"}));
  WEFT_ASSIGN(const Value key, given.required(0));
  if (!is_hashable(key)) return fault("a {} cannot be a key", type_name(key));
  if (const Value* value = self.as_dict().find(key)) return *value;
  return given.value_or(1, Value::none());
}

Result<Value> dict_keys(Interpreter& interpreter, const Value& self, const Arguments&) {
  std::vector<Value> items;
  for (const auto& [key, value] : self.as_dict().items) items.push_back(key);
  return interpreter.heap().view(std::move(items), Sequence::Form::keys);
}
Result<Value> dict_values(Interpreter& interpreter, const Value& self, const Arguments&) {
  std::vector<Value> items;
  for (const auto& [key, value] : self.as_dict().items) items.push_back(value);
  return interpreter.heap().view(std::move(items), Sequence::Form::values);
}
Result<Value> dict_items(Interpreter& interpreter, const Value& self, const Arguments&) {
  std::vector<Value> items;
  WEFT_OK(interpreter.charge(self.as_dict().items.size() * 4 * sizeof(Value)));
  for (const auto& [key, value] : self.as_dict().items) {
    WEFT_ASSIGN(const Value pair, interpreter.heap().tuple({key, value}));
    items.push_back(pair);
  }
  return interpreter.heap().view(std::move(items), Sequence::Form::pairs);
}
Result<Value> copy(Interpreter&, const Value& self, const Arguments&) {
  return self;
}  // A copy of an object that cannot change is the object itself.

Result<Value> list_count(Interpreter&, const Value& self, const Arguments& arguments) {
  WEFT_ASSIGN(const Given given, Given::bind(arguments, {"value"}));
  WEFT_ASSIGN(const Value wanted, given.required(0));
  return Value::integer(std::ranges::count_if(
      self.items(), [&](const Value& item) { return are_equal(item, wanted); }));
}
Result<Value> list_index(Interpreter&, const Value& self, const Arguments& arguments) {
  WEFT_ASSIGN(const Given given, Given::bind(arguments, {"value"}));
  WEFT_ASSIGN(const Value wanted, given.required(0));
  const auto found = std::ranges::find_if(
      self.items(), [&](const Value& item) { return are_equal(item, wanted); });
  if (found == self.items().end()) return fault("the value is not in the list");
  return Value::integer(found - self.items().begin());
}

Result<Value> float_is_integer(Interpreter&, const Value& self, const Arguments&) {
  return Value::boolean(self.is_integral() || self.as_floating() == std::floor(self.as_floating()));
}
Result<Value> int_bit_length(Interpreter&, const Value& self, const Arguments&) {
  Integer rest = self.as_integer(), bits = 0;
  for (; rest != 0; rest /= 2) ++bits;
  return Value::integer(bits);
}

Result<Value> cycler_next(Interpreter&, const Value& self, const Arguments&) {
  auto& cycler = static_cast<CyclerObject&>(self.as_callable());
  const Value value = cycler.items[cycler.position];
  cycler.position = (cycler.position + 1) % cycler.items.size();
  return value;
}
Result<Value> cycler_reset(Interpreter&, const Value& self, const Arguments&) {
  static_cast<CyclerObject&>(self.as_callable()).position = 0;
  return Value::none();
}

template <std::size_t count>
const MethodRow* find_in(const MethodRow (&rows)[count], std::string_view name) {
  const auto row = std::ranges::find(rows, name, &MethodRow::name);
  return row == std::end(rows) ? nullptr : &*row;
}

constexpr MethodRow dict_rows[] = {
    {"get", dict_get},       {"keys", dict_keys}, {"values", dict_values}, {"items", dict_items},
    {"copy", copy},          {"clear", nullptr},  {"pop", nullptr},        {"popitem", nullptr},
    {"setdefault", nullptr}, {"update", nullptr}, {"fromkeys", nullptr}};
constexpr MethodRow list_rows[] = {
    {"count", list_count}, {"index", list_index}, {"copy", copy},      {"append", nullptr},
    {"clear", nullptr},    {"extend", nullptr},   {"insert", nullptr}, {"pop", nullptr},
    {"remove", nullptr},   {"reverse", nullptr},  {"sort", nullptr}};
constexpr MethodRow tuple_rows[] = {{"count", list_count}, {"index", list_index}};
constexpr MethodRow float_rows[] = {{"is_integer", float_is_integer}};
constexpr MethodRow int_rows[] = {{"is_integer", float_is_integer}, {"bit_length", int_bit_length}};
constexpr MethodRow cycler_rows[] = {{"next", cycler_next}, {"reset", cycler_reset}};

}  // namespace

const MethodRow* find_method(const Value& object, std::string_view name) {
  switch (object.kind()) {
    case Kind::string:
      return find_string_method(name);
    case Kind::dict:
      return find_in(dict_rows, name);
    case Kind::list:
      return find_in(list_rows, name);
    case Kind::tuple:
      return find_in(tuple_rows, name);
    case Kind::floating:
      return find_in(float_rows, name);
    case Kind::boolean:
    case Kind::integer:
      return find_in(int_rows, name);
    case Kind::callable:
      return object.as_callable().what == Callable::What::cycler ? find_in(cycler_rows, name)
                                                                 : nullptr;
    default:
      return nullptr;
  }
}

}  // namespace weft::jinja
