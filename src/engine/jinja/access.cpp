#include "engine/jinja/access.h"

#include <algorithm>

#include "common/base/format.h"
#include "common/base/utf8.h"
#include "engine/jinja/interpreter.h"
#include "engine/jinja/tables.h"
#include "engine/jinja/text_tools.h"

namespace weft::jinja {
namespace {

// Clamps one bound of a slice by Python's rule: to 0 ... size, or to -1 ... size - 1 if the step is
// negative.
Integer slice_bound(const Value& given, Integer size, Integer step, bool is_start) {
  const Integer low = step < 0 ? -1 : 0, high = step < 0 ? size - 1 : size;
  if (given.is(Kind::none)) return (step < 0) == is_start ? high : low;
  Integer bound = given.as_integer();
  if (bound < 0) bound += size;
  return std::clamp(bound, low, high);
}

// Returns the code point at index `at` of a string; a negative index counts from the end.
Result<Value> character(Interpreter& interpreter, const Value& string, Integer at) {
  WEFT_OK(interpreter.charge(string.as_text().size()));
  const std::vector<std::size_t> offsets = code_point_offsets(string.as_text());
  const auto size = static_cast<Integer>(offsets.size() - 1);
  if (at < 0) at += size;
  if (at < 0 || at >= size) return interpreter.heap().undefined("'str object' has no such element");
  const auto from = static_cast<std::size_t>(at);
  return interpreter.text(
      std::string(string.as_text().substr(offsets[from], offsets[from + 1] - offsets[from])));
}

Result<Value> loop_attribute(Interpreter& interpreter, LoopObject& loop, std::string_view name) {
  const auto number = [](Integer value) { return Value::integer(value); };
  const auto at = static_cast<Integer>(loop.index0),
             count = static_cast<Integer>(loop.items.size());
  if (name == "index") return number(at + 1);
  if (name == "index0") return number(at);
  if (name == "revindex") return number(count - at);
  if (name == "revindex0") return number(count - at - 1);
  if (name == "first") return Value::boolean(at == 0);
  if (name == "last") return Value::boolean(at + 1 == count);
  if (name == "length") return number(count);
  if (name == "depth") return number(loop.depth0 + 1);
  if (name == "depth0") return number(loop.depth0);
  if (name == "previtem")
    return at == 0 ? interpreter.heap().undefined("there is no previous item")
                   : loop.items[loop.index0 - 1];
  if (name == "nextitem")
    return at + 1 == count ? interpreter.heap().undefined("there is no next item")
                           : loop.items[loop.index0 + 1];
  const auto method = [&](Method code) {
    return Value(Kind::callable,
                 interpreter.heap().make<MethodObject>(0, Callable::What::method,
                                                       Value(Kind::callable, &loop), "loop", code));
  };
  if (name == "cycle") {
    return method([](Interpreter&, const Value& self, const Arguments& arguments) -> Result<Value> {
      if (arguments.positional.empty()) return fault("no items for cycling given");
      return arguments.positional[static_cast<LoopObject&>(self.as_callable()).index0 %
                                  arguments.positional.size()];
    });
  }
  if (name == "changed") {
    return method([](Interpreter&, const Value& self, const Arguments& arguments) -> Result<Value> {
      auto& own = static_cast<LoopObject&>(self.as_callable());
      const bool same =
          own.has_changed && std::ranges::equal(own.last_changed, arguments.positional, are_equal);
      own.has_changed = true;
      own.last_changed = arguments.positional;
      return Value::boolean(!same);
    });
  }
  return interpreter.heap().undefined(weft::format("'loop' has no attribute '{}'", name));
}

}  // namespace

Result<std::vector<Value>> elements_of(Interpreter& interpreter, const Value& value) {
  switch (value.kind()) {
    case Kind::list:
    case Kind::tuple:
    case Kind::view:
      WEFT_OK(interpreter.charge(value.items().size()));
      return std::vector<Value>(value.items().begin(), value.items().end());
    case Kind::dict: {
      WEFT_OK(interpreter.charge(value.as_dict().items.size()));
      std::vector<Value> keys;
      for (const auto& [key, item] : value.as_dict().items) keys.push_back(key);
      return keys;
    }
    case Kind::string: {
      const std::string_view all = value.as_text();
      WEFT_OK(interpreter.charge(all.size() * (sizeof(Value) + sizeof(String))));
      std::vector<Value> characters;
      for (std::size_t at = 0; at < all.size();) {
        const std::size_t bytes = utf8::decode(all, at).bytes;
        characters.push_back(interpreter.text(std::string(all.substr(at, bytes))));
        at += bytes;
      }
      return characters;
    }
    case Kind::iterator: {
      Iterator& iterator = value.as_iterator();
      std::vector<Value> rest(iterator.items.begin() + static_cast<std::ptrdiff_t>(iterator.next),
                              iterator.items.end());
      iterator.next = iterator.items.size();
      WEFT_OK(interpreter.charge(rest.size()));
      return rest;
    }
    case Kind::undefined:
      return std::vector<Value>();
    default:
      return fault("a {} cannot be walked over", type_name(value));
  }
}

Result<Value> attribute_of(Interpreter& interpreter, const Value& object, std::string_view name) {
  if (object.is(Kind::undefined)) return undefined_fault(object);
  if (const MethodRow* row = find_method(object, name)) {
    const auto what = row->method == nullptr ? Callable::What::refused : Callable::What::method;
    return Value(Kind::callable,
                 interpreter.heap().make<MethodObject>(0, what, object, row->name, row->method));
  }
  if (object.is(Kind::dict)) {
    if (const Value* value = object.as_dict().find(name)) return *value;
  } else if (object.is(Kind::name_space)) {
    if (const Value* value = object.as_namespace().find(name)) return *value;
  } else if (object.is(Kind::tuple) &&
             static_cast<const Sequence*>(object.object())->form == Sequence::Form::group) {
    if (name == "grouper") return object.items()[0];
    if (name == "list") return object.items()[1];
  } else if (object.is(Kind::callable)) {
    Callable& callable = object.as_callable();
    if (callable.what == Callable::What::loop)
      return loop_attribute(interpreter, static_cast<LoopObject&>(callable), name);
    if (callable.what == Callable::What::macro && name == "name")
      return interpreter.text(static_cast<MacroObject&>(callable).node.name);
    if (callable.what == Callable::What::cycler && name == "current") {
      const auto& cycler = static_cast<CyclerObject&>(callable);
      return cycler.items[cycler.position];
    }
  }
  return interpreter.heap().undefined(
      weft::format("'{} object' has no attribute '{}'", type_name(object), name));
}

Result<Value> element_of(Interpreter& interpreter, const Value& object, const Value& index) {
  if (object.is(Kind::undefined)) return undefined_fault(object);
  if (object.is(Kind::dict) && is_hashable(index)) {
    WEFT_OK(interpreter.charge(object.as_dict().items.size()));
    if (const Value* value = object.as_dict().find(index)) return *value;
  }
  if (index.is_integral() && (object.is(Kind::list) || object.is(Kind::tuple))) {
    const auto items = object.items();
    Integer at = index.as_integer();
    if (at < 0) at += static_cast<Integer>(items.size());
    if (at >= 0 && at < static_cast<Integer>(items.size()))
      return items[static_cast<std::size_t>(at)];
  }
  if (index.is_integral() && object.is(Kind::string))
    return character(interpreter, object, index.as_integer());
  if (index.is(Kind::string)) return attribute_of(interpreter, object, index.as_text());
  std::string shown(type_name(object));
  return interpreter.heap().undefined(weft::format("'{} object' has no such element", shown));
}

// A template may give values of any kind as bounds, so each is checked before it is read as an
// integer.
Result<Value> slice_of(Interpreter& interpreter, const Value& object, const Value& start,
                       const Value& stop, const Value& step) {
  if (object.is(Kind::undefined)) return undefined_fault(object);
  const bool is_text = object.is(Kind::string);
  if (!is_text && !object.is(Kind::list) && !object.is(Kind::tuple))
    return fault("a {} cannot be sliced", type_name(object));
  std::vector<std::size_t> offsets;
  if (is_text) {
    WEFT_OK(interpreter.charge(object.as_text().size()));
    offsets = code_point_offsets(object.as_text());
  }
  const auto size = static_cast<Integer>(is_text ? offsets.size() - 1 : object.items().size());
  for (const Value* part : {&start, &stop, &step})
    if (!part->is_integral() && !part->is(Kind::none))
      return part->is(Kind::undefined)
                 ? undefined_fault(*part)
                 : fault("a slice's bounds are integers, not a {}", type_name(*part));
  const Integer stride = step.is(Kind::none) ? 1 : step.as_integer();
  if (stride == 0) return fault("a slice's step is 0");
  const Integer first = slice_bound(start, size, stride, true),
                end = slice_bound(stop, size, stride, false);
  // A step larger than the size takes one element, as a step of size + 1 does, so the step is
  // clamped.
  const Integer pace = std::clamp(stride, -(size + 1), size + 1);
  if (is_text) {
    std::string part;
    if (pace == 1 && first < end)
      part = object.as_text().substr(
          offsets[static_cast<std::size_t>(first)],
          offsets[static_cast<std::size_t>(end)] - offsets[static_cast<std::size_t>(first)]);
    if (pace != 1)
      for (Integer i = first; pace > 0 ? i < end : i > end; i += pace) {
        const auto at = static_cast<std::size_t>(i);
        part += object.as_text().substr(offsets[at], offsets[at + 1] - offsets[at]);
      }
    return interpreter.heap().string(std::move(part), object.is_markup());
  }
  std::vector<Value> items;
  for (Integer i = first; pace > 0 ? i < end : i > end; i += pace)
    items.push_back(object.items()[static_cast<std::size_t>(i)]);
  WEFT_OK(interpreter.charge(items.size() * sizeof(Value)));
  return object.is(Kind::tuple) ? interpreter.heap().tuple(std::move(items))
                                : interpreter.heap().list(std::move(items));
}

}  // namespace weft::jinja
