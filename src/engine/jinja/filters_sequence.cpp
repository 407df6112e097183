// Filters that use a sequence as a whole: length, join, first, batch, ...
#include <algorithm>

#include "engine/jinja/interpreter.h"
#include "engine/jinja/print.h"
#include "engine/jinja/sequence_tools.h"
#include "engine/jinja/tables.h"
#include "engine/jinja/text_tools.h"

namespace weft::jinja {
namespace {

Result<Value> length(Interpreter&, const Value& input, const Arguments& arguments) {
  WEFT_OK(Given::bind(arguments, {}));
  switch (input.kind()) {
    case Kind::undefined:
      return Value::integer(0);
    case Kind::string:
      return Value::integer(static_cast<Integer>(length_of(input.as_text())));
    case Kind::list:
    case Kind::tuple:
    case Kind::view:
      return Value::integer(static_cast<Integer>(input.items().size()));
    case Kind::dict:
      return Value::integer(static_cast<Integer>(input.as_dict().items.size()));
    default:
      return fault("a {} has no length", type_name(input));
  }
}

Result<Value> join(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
  WEFT_ASSIGN(const Given given, Given::bind(arguments, {"d", "attribute"}));
  const std::string separator = given.has(0) ? to_str(*given[0]) : "";
  WEFT_ASSIGN(const std::vector<Value> items, interpreter.elements_of(input));
  std::string out;
  for (std::size_t i = 0; i < items.size(); ++i) {
    Value item = items[i];
    if (given.has(1) && !given[1]->is(Kind::none)) {
      WEFT_ASSIGN(item, attribute_path(interpreter, item, *given[1]));
    }
    const std::string text = to_str(item);
    WEFT_OK(interpreter.charge(separator.size() + text.size()));
    if (i > 0) out += separator;
    out += text;
  }
  return interpreter.text(std::move(out));
}

Result<Value> first(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
  WEFT_OK(Given::bind(arguments, {}));
  if (input.is(Kind::iterator)) {
    Iterator& iterator = input.as_iterator();
    if (iterator.next < iterator.items.size()) return iterator.items[iterator.next++];
    return interpreter.heap().undefined("No first item, sequence was empty.");
  }
  WEFT_ASSIGN(const std::vector<Value> items, interpreter.elements_of(input));
  return items.empty() ? interpreter.heap().undefined("No first item, sequence was empty.")
                       : items.front();
}

Result<Value> last(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
  WEFT_OK(Given::bind(arguments, {}));
  if (input.is(Kind::iterator)) return fault("a generator has no last item");
  WEFT_ASSIGN(const std::vector<Value> items, interpreter.elements_of(input));
  return items.empty() ? interpreter.heap().undefined("No last item, sequence was empty.")
                       : items.back();
}

Result<Value> list(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
  WEFT_OK(Given::bind(arguments, {}));
  WEFT_ASSIGN(std::vector<Value> items, interpreter.elements_of(input));
  return interpreter.heap().list(std::move(items));
}

Result<Value> reverse(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
  WEFT_OK(Given::bind(arguments, {}));
  WEFT_ASSIGN(std::vector<Value> items, interpreter.elements_of(input));
  std::ranges::reverse(items);
  if (!input.is(Kind::string)) return interpreter.heap().iterator(std::move(items));
  std::string text;
  for (const Value& item : items) text += item.as_text();
  return interpreter.heap().string(std::move(text), input.is_markup());
}

Result<Value> items(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
  WEFT_OK(Given::bind(arguments, {}));
  if (input.is(Kind::undefined)) return interpreter.heap().iterator({});
  if (!input.is(Kind::dict))
    return fault("Can only get item pairs from a mapping, not from a {}", type_name(input));
  WEFT_ASSIGN(const Value view, find_method(input, "items")->method(interpreter, input, {}));
  return interpreter.heap().iterator({view.items().begin(), view.items().end()});
}

Result<Value> batch(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
  WEFT_ASSIGN(const Given given, Given::bind(arguments, {"linecount", "fill_with"}));
  WEFT_ASSIGN(const Integer count, given.integer_or(0, 0));
  if (count < 1) return fault("batch needs a number from 1 on");
  WEFT_ASSIGN(const std::vector<Value> all, interpreter.elements_of(input));
  std::vector<Value> rows;
  for (std::size_t at = 0; at < all.size();) {
    const auto size =
        static_cast<std::size_t>(std::min<Integer>(count, static_cast<Integer>(all.size() - at)));
    std::vector<Value> row(all.begin() + static_cast<std::ptrdiff_t>(at),
                           all.begin() + static_cast<std::ptrdiff_t>(at + size));
    if (given.has(1) && !given[1]->is(Kind::none)) {
      WEFT_OK(interpreter.charge(
          static_cast<std::uint64_t>(std::min<Integer>(count, Integer{1} << 40)) * sizeof(Value)));
      row.resize(static_cast<std::size_t>(count), *given[1]);
    }
    WEFT_ASSIGN(const Value made, interpreter.heap().list(std::move(row)));
    rows.push_back(made);
    at += size;
  }
  return interpreter.heap().iterator(std::move(rows));
}

Result<Value> slice(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
  WEFT_ASSIGN(const Given given, Given::bind(arguments, {"slices", "fill_with"}));
  WEFT_ASSIGN(const Integer slices, given.integer_or(0, 0));
  if (slices < 1) return fault("slice needs a number from 1 on");
  WEFT_OK(interpreter.charge(
      static_cast<std::uint64_t>(std::min<Integer>(slices, Integer{1} << 40)) * 2 * sizeof(Value)));
  WEFT_ASSIGN(const std::vector<Value> all, interpreter.elements_of(input));
  const auto count = static_cast<std::size_t>(slices);
  const std::size_t each = all.size() / count, with_extra = all.size() % count;
  std::vector<Value> columns;
  std::size_t at = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t size = each + (i < with_extra ? 1 : 0);
    std::vector<Value> column(all.begin() + static_cast<std::ptrdiff_t>(at),
                              all.begin() + static_cast<std::ptrdiff_t>(at + size));
    if (given.has(1) && !given[1]->is(Kind::none) && i >= with_extra) column.push_back(*given[1]);
    WEFT_ASSIGN(const Value made, interpreter.heap().list(std::move(column)));
    columns.push_back(made);
    at += size;
  }
  return interpreter.heap().iterator(std::move(columns));
}

Result<Value> sum(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
  WEFT_ASSIGN(const Given given, Given::bind(arguments, {"attribute", "start"}));
  WEFT_ASSIGN(const std::vector<Value> all, interpreter.elements_of(input));
  Value total = given.value_or(1, Value::integer(0));
  if (total.is(Kind::string)) return fault("sum cannot add texts");
  for (Value item : all) {
    if (given.has(0) && !given[0]->is(Kind::none)) {
      WEFT_ASSIGN(item, attribute_path(interpreter, item, *given[0]));
    }
    WEFT_ASSIGN(total, apply_binary(interpreter, BinaryOperator::add, total, item));
  }
  return total;
}

constexpr Row<Filter> rows[] = {{"length", length},   {"count", length}, {"join", join},
                                {"first", first},     {"last", last},    {"list", list},
                                {"reverse", reverse}, {"items", items},  {"batch", batch},
                                {"slice", slice},     {"sum", sum}};

}  // namespace

Filter find_sequence_filter(std::string_view name) { return find_row(rows, name); }

}  // namespace weft::jinja
