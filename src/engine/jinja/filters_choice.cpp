// Filters that choose, order and map elements: map, select, sort, groupby, unique, min, max.
#include <algorithm>
#include <charconv>

#include "engine/jinja/interpreter.h"
#include "engine/jinja/print.h"
#include "engine/jinja/sequence_tools.h"
#include "engine/jinja/tables.h"
#include "engine/jinja/text_tools.h"

namespace weft::jinja {

Result<Value> attribute_path(Interpreter& interpreter, const Value& object, const Value& path,
                             std::optional<Value> otherwise) {
  if (path.is_integral()) return interpreter.subscript(object, path);
  const std::string text = to_str(path);
  Value value = object;
  for (const std::string_view part : split_at(text, ".", -1)) {
    std::size_t index = 0;
    const bool is_index =
        !part.empty() && std::from_chars(part.data(), part.data() + part.size(), index).ptr ==
                             part.data() + part.size();
    const Value key = is_index ? Value::integer(static_cast<Integer>(index))
                               : interpreter.text(std::string(part));
    WEFT_ASSIGN(value, interpreter.subscript(value, key));
    if (value.is(Kind::undefined) && otherwise) value = *otherwise;
  }
  return value;
}

Result<Value> key_of(Interpreter& interpreter, const Value& element, const KeyRule& rule) {
  const auto folded = [&](const Value& value) {
    return value.is(Kind::string) && !rule.case_sensitive
               ? interpreter.text(to_lower(value.as_text()))
               : value;
  };
  if (!rule.attribute || rule.attribute->is(Kind::none)) return folded(element);
  WEFT_ASSIGN(const Value value,
              attribute_path(interpreter, element, *rule.attribute, rule.otherwise));
  return folded(value);
}

Result<Value> keys_of(Interpreter& interpreter, const Value& element, const KeyRule& rule) {
  std::vector<Value> keys;
  if (rule.attribute && rule.attribute->is(Kind::string)) {
    for (const std::string_view path : split_at(rule.attribute->as_text(), ",", -1)) {
      WEFT_ASSIGN(const Value key, key_of(interpreter, element,
                                          {.attribute = interpreter.text(std::string(path)),
                                           .case_sensitive = rule.case_sensitive,
                                           .otherwise = {}}));
      keys.push_back(key);
    }
  } else {
    WEFT_ASSIGN(const Value key, key_of(interpreter, element, rule));
    keys.push_back(key);
  }
  return interpreter.heap().list(std::move(keys));
}

namespace {

struct Keyed {
  Value key, value;
};

Result<std::vector<Keyed>> with_keys(Interpreter& interpreter, const Value& input,
                                     const KeyRule& rule, decltype(&key_of) make_key = key_of) {
  WEFT_ASSIGN(const std::vector<Value> items, interpreter.elements_of(input));
  std::vector<Keyed> keyed;
  for (const Value& item : items) {
    WEFT_ASSIGN(const Value key, make_key(interpreter, item, rule));
    keyed.push_back({key, item});
  }
  return keyed;
}

// Sorts stably. Fails if two keys have no order.
Result<> sort_by_key(std::vector<Keyed>& keyed, bool reverse) {
  std::optional<Error> problem;
  const auto before = [&](const Keyed& a, const Keyed& b) {
    const auto less = reverse ? is_less(b.key, a.key) : is_less(a.key, b.key);
    if (!less && !problem) problem = less.error();
    return less.value_or(false);
  };
  // Kinds that cannot be compared are found before the sort, by comparing all neighbours, because
  // sorting needs a valid order.
  for (std::size_t i = 1; i < keyed.size() && !problem; ++i) (void)before(keyed[i - 1], keyed[i]);
  if (!problem) std::ranges::stable_sort(keyed, before);
  if (problem) return std::unexpected(*problem);
  return {};
}

std::vector<Value> values_of(const std::vector<Keyed>& keyed) {
  std::vector<Value> values;
  for (const Keyed& one : keyed) values.push_back(one.value);
  return values;
}

Result<Value> sort(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
  WEFT_ASSIGN(const Given given,
              Given::bind(arguments, {"reverse", "case_sensitive", "attribute"}));
  const KeyRule rule{
      .attribute = given[2], .case_sensitive = given.is_true_or(1, false), .otherwise = {}};
  WEFT_ASSIGN(std::vector<Keyed> keyed, with_keys(interpreter, input, rule, keys_of));
  WEFT_OK(sort_by_key(keyed, given.is_true_or(0, false)));
  return interpreter.heap().list(values_of(keyed));
}

Result<Value> dictsort(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
  WEFT_ASSIGN(const Given given, Given::bind(arguments, {"case_sensitive", "by", "reverse"}));
  const std::string by = given.has(1) ? to_str(*given[1]) : "key";
  if (by != "key" && by != "value")
    return fault("dictsort sorts by 'key' or by 'value', not by '{}'", by);
  if (!input.is(Kind::dict)) return fault("dictsort takes a dict, not a {}", type_name(input));
  WEFT_ASSIGN(const Value view, find_method(input, "items")->method(interpreter, input, {}));
  const KeyRule rule{.attribute = Value::integer(by == "key" ? 0 : 1),
                     .case_sensitive = given.is_true_or(0, false),
                     .otherwise = {}};
  WEFT_ASSIGN(std::vector<Keyed> keyed, with_keys(interpreter, view, rule));
  WEFT_OK(sort_by_key(keyed, given.is_true_or(2, false)));
  return interpreter.heap().list(values_of(keyed));
}

Result<Value> unique(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
  WEFT_ASSIGN(const Given given, Given::bind(arguments, {"case_sensitive", "attribute"}));
  WEFT_ASSIGN(
      const std::vector<Keyed> keyed,
      with_keys(
          interpreter, input,
          {.attribute = given[1], .case_sensitive = given.is_true_or(0, false), .otherwise = {}}));
  std::vector<std::pair<Value, Value>> seen;
  for (const Keyed& one : keyed) {
    if (!is_hashable(one.key)) return fault("unique cannot compare a {}", type_name(one.key));
    seen.emplace_back(one.key, Value::none());
  }
  // A dict keeps the first of several equal keys, in order. The loop below finds the values of the
  // keys.
  WEFT_ASSIGN(const Value keys, interpreter.heap().dict(std::move(seen)));
  std::vector<Value> values;
  auto next = keys.as_dict().items.begin();
  for (const Keyed& one : keyed) {
    if (next == keys.as_dict().items.end()) break;
    if (!are_equal(next->first, one.key)) continue;
    values.push_back(one.value);
    ++next;
  }
  return interpreter.heap().iterator(std::move(values));
}

template <bool greatest>
Result<Value> extreme(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
  WEFT_ASSIGN(const Given given, Given::bind(arguments, {"case_sensitive", "attribute"}));
  WEFT_ASSIGN(
      const std::vector<Keyed> keyed,
      with_keys(
          interpreter, input,
          {.attribute = given[1], .case_sensitive = given.is_true_or(0, false), .otherwise = {}}));
  if (keyed.empty()) return interpreter.heap().undefined("No aggregated item, sequence was empty.");
  Keyed best = keyed[0];
  for (const Keyed& one : keyed) {
    WEFT_ASSIGN(const bool better,
                greatest ? is_less(best.key, one.key) : is_less(one.key, best.key));
    if (better) best = one;
  }
  return best.value;
}

Result<Value> groupby(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
  WEFT_ASSIGN(const Given given,
              Given::bind(arguments, {"attribute", "default", "case_sensitive"}));
  WEFT_ASSIGN(const Value path, given.required(0));
  const KeyRule rule{
      .attribute = path, .case_sensitive = given.is_true_or(2, false), .otherwise = given[1]};
  WEFT_ASSIGN(std::vector<Keyed> keyed, with_keys(interpreter, input, rule));
  WEFT_OK(sort_by_key(keyed, false));
  std::vector<Value> groups;
  for (std::size_t at = 0; at < keyed.size();) {
    std::size_t end = at;
    std::vector<Value> members;
    for (; end < keyed.size() && are_equal(keyed[end].key, keyed[at].key); ++end)
      members.push_back(keyed[end].value);
    WEFT_ASSIGN(const Value grouper,
                attribute_path(interpreter, keyed[at].value, path, rule.otherwise));
    WEFT_ASSIGN(const Value list, interpreter.heap().list(std::move(members)));
    WEFT_ASSIGN(const Value group,
                interpreter.heap().tuple({grouper, list}, Sequence::Form::group));
    groups.push_back(group);
    at = end;
  }
  return interpreter.heap().list(std::move(groups));
}

// The filter map: map('upper'), map('replace', 'a', 'b'), map(attribute='name', default='x').
Result<Value> map(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
  if (!is_true(input))
    // A value that counts as false gives no elements, even if it is no sequence.
    return interpreter.heap().iterator({});
  WEFT_ASSIGN(const std::vector<Value> items, interpreter.elements_of(input));
  std::vector<Value> mapped;
  if (arguments.positional.empty()) {
    WEFT_ASSIGN(const Given given, Given::bind(arguments, {"attribute", "default"}));
    WEFT_ASSIGN(const Value path, given.required(0));
    for (const Value& item : items) {
      WEFT_ASSIGN(const Value value, attribute_path(interpreter, item, path, given[1]));
      mapped.push_back(value);
    }
    return interpreter.heap().iterator(std::move(mapped));
  }
  const std::string name = to_str(arguments.positional[0]);
  const Arguments rest{.positional = {arguments.positional.begin() + 1, arguments.positional.end()},
                       .named = arguments.named};
  for (const Value& item : items) {
    WEFT_ASSIGN(const Value value, interpreter.apply_filter(name, item, rest));
    mapped.push_back(value);
  }
  return interpreter.heap().iterator(std::move(mapped));
}

// The filters select('odd'), reject('equalto', 1) and selectattr('role', 'equalto', 'user').
// Without a test they test whether the value is true.
struct Choice {
  bool keeps_matches;
  bool by_attribute;
};
template <Choice choice>
Result<Value> choose(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
  if (!is_true(input))
    // A value that counts as false gives no elements, even if it is no sequence.
    return interpreter.heap().iterator({});
  WEFT_ASSIGN(const std::vector<Value> items, interpreter.elements_of(input));
  std::size_t used = choice.by_attribute ? 1 : 0;
  if (arguments.positional.size() < used) return fault("the attribute's name is missing");
  const bool has_test = arguments.positional.size() > used;
  const std::string test = has_test ? to_str(arguments.positional[used]) : "";
  if (has_test) ++used;
  const Arguments rest{
      .positional = {arguments.positional.begin() + static_cast<std::ptrdiff_t>(used),
                     arguments.positional.end()},
      .named = arguments.named};
  std::vector<Value> chosen;
  for (const Value& item : items) {
    Value subject = item;
    if (choice.by_attribute) {
      WEFT_ASSIGN(subject, attribute_path(interpreter, item, arguments.positional[0]));
    }
    bool matches = is_true(subject);
    if (has_test) {
      WEFT_ASSIGN(matches, interpreter.apply_test(test, subject, rest));
    }
    if (matches == choice.keeps_matches) chosen.push_back(item);
  }
  return interpreter.heap().iterator(std::move(chosen));
}

constexpr Row<Filter> rows[] = {
    {"map", map},
    {"select", choose<Choice{.keeps_matches = true, .by_attribute = false}>},
    {"reject", choose<Choice{.keeps_matches = false, .by_attribute = false}>},
    {"selectattr", choose<Choice{.keeps_matches = true, .by_attribute = true}>},
    {"rejectattr", choose<Choice{.keeps_matches = false, .by_attribute = true}>},
    {"sort", sort},
    {"dictsort", dictsort},
    {"unique", unique},
    {"min", extreme<false>},
    {"max", extreme<true>},
    {"groupby", groupby}};

}  // namespace

Filter find_choice_filter(std::string_view name) { return find_row(rows, name); }

}  // namespace weft::jinja
