#include "engine/jinja/read_json.h"

#include <charconv>
#include <cstdlib>

#include "common/json/json.h"

namespace weft::jinja {
namespace {

constexpr std::size_t count_max = std::size_t{1} << 24;

Result<Value> read_number(const json::Value& value) {
  WEFT_ASSIGN(const std::string_view text, value.number_text());
  if (text.find_first_of(".eE") != std::string_view::npos)
    return Value::floating(std::strtod(std::string(text).c_str(), nullptr));
  Integer number = 0;
  const bool negative = text.starts_with('-');
  for (const char c : text.substr(negative ? 1 : 0)) {
    if (__builtin_mul_overflow(number, Integer{10}, &number) ||
        __builtin_sub_overflow(number, static_cast<Integer>(c - '0'), &number))
      return value.error("is too large for an integer");
  }
  if (!negative && __builtin_sub_overflow(Integer{0}, number, &number))
    return value.error("is too large for an integer");
  return Value::integer(number);
}

Result<Value> read_value(Heap& heap, const json::Value& value) {
  switch (value.kind()) {
    case json::Kind::null:
      return Value::none();
    case json::Kind::boolean: {
      WEFT_ASSIGN(const bool truth, value.boolean());
      return Value::boolean(truth);
    }
    case json::Kind::number:
      return read_number(value);
    case json::Kind::string: {
      WEFT_ASSIGN(std::string text, value.string({.bytes_max = json_bytes_max}));
      return heap.string(std::move(text));
    }
    case json::Kind::array: {
      std::vector<Value> items;
      WEFT_OK(value.for_each({.count_max = count_max}, [&](const json::Value& one) -> Result<> {
        WEFT_ASSIGN(const Value item, read_value(heap, one));
        items.push_back(item);
        return {};
      }));
      return heap.list(std::move(items));
    }
    case json::Kind::object: {
      std::vector<std::pair<Value, Value>> items;
      WEFT_ASSIGN(const auto members, value.members({.count_max = count_max}));
      for (const auto& [key, member] : members) {
        WEFT_ASSIGN(const Value item, read_value(heap, member));
        items.emplace_back(heap.string(key), item);
      }
      return heap.dict(std::move(items));
    }
  }
  return Value::none();
}

}  // namespace

Result<Value> read_json(Heap& heap, std::string_view text) {
  WEFT_ASSIGN(const json::Value root,
              json::parse(text, {.bytes_max = json_bytes_max, .depth_max = 100}));
  return read_value(heap, root);
}

}  // namespace weft::jinja
