#include "engine/jinja/value.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "engine/jinja/callable.h"
#include "engine/jinja/print.h"

namespace weft::jinja {
namespace {

std::uint16_t depth_of(const Value& value) {
  switch (value.kind()) {
    case Kind::list:
    case Kind::tuple:
    case Kind::view:
      return static_cast<const Sequence*>(value.object())->depth;
    case Kind::dict:
      return value.as_dict().depth;
    default:
      return 0;
  }
}

Result<std::uint16_t> depth_above(std::uint16_t deepest) {
  if (deepest >= Heap::depth_max)
    return fail(ErrorCode::resource_exhausted, "A value nests deeper than {} levels.",
                Heap::depth_max);
  return static_cast<std::uint16_t>(deepest + 1);
}

bool equal_dicts(const Dict& a, const Dict& b) {
  if (a.items.size() != b.items.size()) return false;
  return std::ranges::all_of(a.items, [&](const auto& item) {
    const Value* other = b.find(item.first);
    return other != nullptr && are_equal(item.second, *other);
  });
}

std::size_t hash_of(const Value& value) {
  switch (value.kind()) {
    case Kind::string:
      return std::hash<std::string_view>()(value.as_text());
    case Kind::boolean:
    case Kind::integer:
      return std::hash<double>()(static_cast<double>(value.as_integer()));
    case Kind::floating:
      return std::hash<double>()(value.as_floating());
    case Kind::tuple: {
      std::size_t hash = 17;
      for (const Value& item : value.items()) hash = hash * 31 + hash_of(item);
      return hash;
    }
    default:
      return static_cast<std::size_t>(value.kind());
  }
}

}  // namespace

Value Value::boolean(bool value) {
  Value made(Kind::boolean);
  made.integer_ = value ? 1 : 0;
  return made;
}
Value Value::integer(Integer value) {
  Value made(Kind::integer);
  made.integer_ = value;
  return made;
}
Value Value::floating(double value) {
  Value made(Kind::floating);
  made.floating_ = value;
  return made;
}

std::string_view Value::as_text() const { return static_cast<const String*>(object_)->text; }
bool Value::is_markup() const {
  return kind_ == Kind::string && static_cast<const String*>(object_)->markup;
}
std::span<const Value> Value::items() const { return static_cast<const Sequence*>(object_)->items; }
const Dict& Value::as_dict() const { return *static_cast<const Dict*>(object_); }
Iterator& Value::as_iterator() const { return *static_cast<Iterator*>(object_); }
Namespace& Value::as_namespace() const { return *static_cast<Namespace*>(object_); }
Callable& Value::as_callable() const { return *static_cast<Callable*>(object_); }
std::string_view Value::hint() const {
  return object_ == nullptr ? "the value is undefined"
                            : std::string_view(static_cast<const Undefined*>(object_)->hint);
}

const Value* Dict::find(const Value& key) const {
  const auto found =
      std::ranges::find_if(items, [&](const auto& item) { return are_equal(item.first, key); });
  return found == items.end() ? nullptr : &found->second;
}
const Value* Dict::find(std::string_view key) const {
  const auto found = std::ranges::find_if(items, [&](const auto& item) {
    return item.first.is(Kind::string) && item.first.as_text() == key;
  });
  return found == items.end() ? nullptr : &found->second;
}
const Value* Namespace::find(std::string_view name) const {
  const auto found =
      std::ranges::find_if(fields, [&](const auto& field) { return field.first == name; });
  return found == fields.end() ? nullptr : &found->second;
}

Value Heap::undefined(std::string hint) {
  const std::size_t bytes = hint.size();
  return {Kind::undefined, make<Undefined>(bytes, std::move(hint))};
}
Value Heap::string(std::string text, bool markup) {
  const std::size_t bytes = text.size();
  return {Kind::string, make<String>(bytes, std::move(text), markup)};
}
Value Heap::iterator(std::vector<Value> items) {
  const std::size_t bytes = items.size() * sizeof(Value);
  return {Kind::iterator, make<Iterator>(bytes, std::move(items))};
}

Result<Value> Heap::sequence(Kind kind, std::vector<Value> items, Sequence::Form form) {
  std::uint16_t deepest = 0;
  for (const Value& item : items) deepest = std::max(deepest, depth_of(item));
  WEFT_ASSIGN(const std::uint16_t depth, depth_above(deepest));
  const std::size_t bytes = items.size() * sizeof(Value);
  auto* made = make<Sequence>(bytes, std::move(items), form);
  made->depth = depth;
  return Value(kind, made);
}
Result<Value> Heap::list(std::vector<Value> items) {
  return sequence(Kind::list, std::move(items), Sequence::Form::plain);
}
Result<Value> Heap::tuple(std::vector<Value> items, Sequence::Form form) {
  return sequence(Kind::tuple, std::move(items), form);
}
Result<Value> Heap::view(std::vector<Value> items, Sequence::Form form) {
  return sequence(Kind::view, std::move(items), form);
}

Result<Value> Heap::dict(std::vector<std::pair<Value, Value>> items) {
  auto* made = make<Dict>(items.size() * 2 * sizeof(Value));
  std::uint16_t deepest = 0;
  std::unordered_multimap<std::size_t, std::size_t>
      places;  // Places by hash of the key, because comparing all pairs would take quadratic time.
  for (auto& [key, value] : items) {
    deepest = std::max({deepest, depth_of(key), depth_of(value)});
    const auto range = places.equal_range(hash_of(key));
    const auto same = std::find_if(range.first, range.second, [&](const auto& place) {
      return are_equal(made->items[place.second].first, key);
    });
    if (same != range.second) {
      made->items[same->second].second = value;
    } else {
      places.emplace(hash_of(key), made->items.size());
      made->items.emplace_back(key, value);
    }
  }
  WEFT_ASSIGN(made->depth, depth_above(deepest));
  return Value(Kind::dict, made);
}

bool is_true(const Value& value) {
  switch (value.kind()) {
    case Kind::undefined:
    case Kind::none:
      return false;
    case Kind::boolean:
    case Kind::integer:
      return value.as_integer() != 0;
    case Kind::floating:
      return value.as_floating() != 0;
    case Kind::string:
      return !value.as_text().empty();
    case Kind::list:
    case Kind::tuple:
    case Kind::view:
      return !value.items().empty();
    case Kind::dict:
      return !value.as_dict().items.empty();
    default:
      return true;
  }
}

bool are_equal(const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) {
    if (a.is_integral() && b.is_integral()) return a.as_integer() == b.as_integer();
    return a.as_number() == b.as_number();
  }
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case Kind::undefined:
    case Kind::none:
      return true;
    case Kind::string:
      return a.as_text() == b.as_text();
    case Kind::list:
    case Kind::tuple:
    case Kind::view:
      return std::ranges::equal(a.items(), b.items(), are_equal);
    case Kind::dict:
      return equal_dicts(a.as_dict(), b.as_dict());
    default:
      return a.object() == b.object();
  }
}

Result<bool> is_less(const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) {
    if (a.is_integral() && b.is_integral()) return a.as_integer() < b.as_integer();
    return a.as_number() < b.as_number();
  }
  if (a.kind() == b.kind()) {
    // UTF-8 bytes sort as code points do.
    if (a.is(Kind::string)) return a.as_text() < b.as_text();
    if (a.is(Kind::list) || a.is(Kind::tuple)) {
      const auto left = a.items(), right = b.items();
      for (std::size_t i = 0; i < std::min(left.size(), right.size()); ++i)
        if (!are_equal(left[i], right[i])) return is_less(left[i], right[i]);
      return left.size() < right.size();
    }
  }
  for (const Value* operand : {&a, &b})
    if (operand->is(Kind::undefined))
      return fail(ErrorCode::invalid_argument, "{}", operand->hint());
  return fail(ErrorCode::invalid_argument, "'{}' and '{}' have no order", type_name(a),
              type_name(b));
}

bool is_hashable(const Value& value) {
  if (value.is(Kind::tuple)) return std::ranges::all_of(value.items(), is_hashable);
  return !value.is(Kind::list) && !value.is(Kind::dict) && !value.is(Kind::view);
}

std::string_view type_name(const Value& value) {
  switch (value.kind()) {
    case Kind::undefined:
      return "Undefined";
    case Kind::none:
      return "NoneType";
    case Kind::boolean:
      return "bool";
    case Kind::integer:
      return "int";
    case Kind::floating:
      return "float";
    case Kind::string:
      return "str";
    case Kind::list:
      return "list";
    case Kind::tuple:
      return "tuple";
    case Kind::dict:
      return "dict";
    case Kind::view:
      return "dict view";
    case Kind::iterator:
      return "generator";
    case Kind::name_space:
      return "Namespace";
    case Kind::callable:
      return "function";
  }
  return "value";
}

}  // namespace weft::jinja
