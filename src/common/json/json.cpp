#include "common/json/json.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <ranges>

#include <glaze/json/lazy.hpp>

#include "common/base/format.h"
#include "common/base/utf8.h"

namespace weft::json {

// The place of a value: a key, or the index of an element (with an empty key).
struct Path {
  std::shared_ptr<const Path> parent;
  std::string key;
  std::size_t index = 0;
  bool is_index = false;
};

namespace {

// The text is not null-terminated, and a whole number may end at the text's end.
struct ValidateOptions : glz::opts {
  bool validate_skipped = true;
  bool validate_trailing_whitespace = true;
};
constexpr ValidateOptions validate_options{{glz::opts{.null_terminated = false}}};
constexpr glz::opts lazy_options{.null_terminated = false};
using LazyView = glz::lazy_json_view<lazy_options>;

std::string place_text(std::string_view document, std::size_t offset) {
  offset = std::min(offset, document.size());
  const std::string_view before = document.substr(0, offset);
  const auto line = 1 + std::ranges::count(before, '\n');
  const std::size_t newline = before.rfind('\n');
  const std::string_view row =
      newline == std::string_view::npos ? before : before.substr(newline + 1);
  const std::size_t column = 1 + utf8::count_code_points(row);
  return weft::format("(line {}, column {})", line, column);
}

std::unexpected<Error> fail_at(std::string_view document, std::size_t offset,
                               std::string_view what) {
  return fail(ErrorCode::invalid_argument, "{} {}", what, place_text(document, offset));
}

// glaze's readers recurse, so the nesting is bounded before they see the text.
Result<> bound_depth(std::string_view text, std::size_t depth_max) {
  std::size_t depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      if (++depth > depth_max)
        return fail_at(text, i,
                       weft::format("the JSON is nested deeper than {} levels", depth_max));
    } else if (c == '}' || c == ']') {
      if (depth > 0) --depth;
    }
  }
  return {};
}

std::string_view describe(glz::error_code code) {
  switch (code) {
    case glz::error_code::unexpected_end:
    case glz::error_code::end_reached:
      return "the JSON ends too early";
    case glz::error_code::invalid_utf8:
      return "the text is not valid UTF-8";
    case glz::error_code::parse_number_failure:
      return "this is not a JSON number";
    default:
      return "this is not valid JSON";
  }
}

Result<std::string> unescape(std::string_view quoted) {
  std::string out;
  if (quoted.find('\\') == std::string_view::npos) {
    out = quoted.substr(1, quoted.size() - 2);
    return out;
  }
  glz::context context{};
  if (glz::read<glz::opts{.null_terminated = false}>(out, quoted, context))
    return fail(ErrorCode::invalid_argument, "has a wrong escape");
  return out;
}

Kind kind_of(std::string_view raw) {
  switch (raw.front()) {
    case '{':
      return Kind::object;
    case '[':
      return Kind::array;
    case '"':
      return Kind::string;
    case 't':
    case 'f':
      return Kind::boolean;
    case 'n':
      return Kind::null;
    default:
      return Kind::number;
  }
}

}  // namespace

std::string_view to_string(Kind kind) {
  switch (kind) {
    case Kind::object:
      return "an object";
    case Kind::array:
      return "an array";
    case Kind::string:
      return "a string";
    case Kind::number:
      return "a number";
    case Kind::boolean:
      return "true or false";
    case Kind::null:
      return "null";
  }
  return "?";
}

Result<Value> parse(std::string_view text, const Limits& limits) {
  if (text.size() > limits.bytes_max) {
    return fail(ErrorCode::invalid_argument, "The JSON has {} bytes; at most {} are read.",
                text.size(), limits.bytes_max);
  }
  WEFT_OK(bound_depth(text, limits.depth_max));
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return fail_at(text, text.size(), "the JSON is empty");
  const std::size_t last = text.find_last_not_of(" \t\r\n");
  const std::string_view raw = text.substr(first, last - first + 1);
  glz::skip skip{};
  glz::context context{};
  if (const glz::error_ctx error = glz::read<validate_options>(skip, raw, context))
    return fail_at(text, first + error.count, describe(error.ec));
  return Value(text, raw, nullptr);
}

Kind Value::kind() const { return kind_of(raw_); }

std::string Value::path() const {
  std::vector<std::string> parts;
  if (index_ != no_index) parts.push_back(weft::format("[{}]", index_));
  for (const Path* at = place_.get(); at != nullptr; at = at->parent.get()) {
    const bool outermost = at->parent == nullptr;
    parts.push_back(at->is_index ? weft::format("[{}]", at->index)
                                 : (outermost ? "" : ".") + at->key);
  }
  std::string joined;
  for (const std::string& part : parts | std::views::reverse) joined += part;
  return joined;
}

std::unexpected<Error> Value::error_text(const std::string& message) const {
  const std::string where = path();
  const auto offset = static_cast<std::size_t>(raw_.data() - document_.data());
  return fail_at(document_, offset, where.empty() ? message : where + ": " + message);
}

Result<> Value::expect(Kind wanted) const {
  if (kind() != wanted) return error("must be {}, not {}", to_string(wanted), to_string(kind()));
  return {};
}

Result<std::vector<std::pair<std::string, Value>>> Value::members(CountBounds bounds) const {
  WEFT_OK(expect(Kind::object));
  const std::shared_ptr<const Path> self =
      index_ == no_index ? place_
                         : std::make_shared<const Path>(Path{
                               .parent = place_, .key = "", .index = index_, .is_index = true});
  std::vector<std::pair<std::string, Value>> found;
  const auto document = glz::lazy_json<lazy_options>(raw_);
  if (!document) return error("is not valid JSON");
  for (const LazyView& view : document->root()) {
    if (found.size() == bounds.count_max) return error("has more than {} keys", bounds.count_max);
    // The bytes around view.key() are the quotes of the key in the JSON text.
    const std::string_view quoted(view.key().data() - 1, view.key().size() + 2);
    auto key = unescape(quoted);
    const std::string_view raw = view.raw_json();
    if (!key) return Value(document_, raw, self).error("{}", "has a key with a wrong escape");
    Value value(document_, raw, std::make_shared<const Path>(Path{.parent = self, .key = *key}));
    found.emplace_back(std::move(*key), std::move(value));
  }
  // Sorting pointers finds duplicate keys without copying the keys.
  std::vector<const std::pair<std::string, Value>*> order;
  for (const auto& member : found) order.push_back(&member);
  std::ranges::stable_sort(order, {},
                           [](const auto* member) -> const std::string& { return member->first; });
  for (std::size_t i = 1; i < order.size(); ++i) {
    if (order[i - 1]->first == order[i]->first) return order[i]->second.error("occurs twice");
  }
  return found;
}

Result<Object> Value::object(std::initializer_list<std::string_view> known) const {
  // The bound is one more than the known keys, so that the error names the unknown key instead of
  // the count.
  WEFT_ASSIGN(auto found, members({.count_max = std::max<std::size_t>(256, known.size() + 1)}));
  for (const auto& [key, value] : found) {
    if (std::ranges::contains(known, std::string_view(key))) continue;
    std::string names;
    for (const std::string_view name : known)
      names += (names.empty() ? "" : ", ") + std::string(name);
    return value.error("is not a known key; known here: {}", names.empty() ? "none" : names);
  }
  return Object(*this, std::move(found));
}

Result<> Value::for_each(CountBounds bounds,
                         const std::function<Result<>(const Value&)>& use) const {
  WEFT_OK(expect(Kind::array));
  const std::shared_ptr<const Path> self =
      index_ == no_index ? place_
                         : std::make_shared<const Path>(Path{
                               .parent = place_, .key = "", .index = index_, .is_index = true});
  const auto document = glz::lazy_json<lazy_options>(raw_);
  if (!document) return error("is not valid JSON");
  Value item(document_, raw_, self);
  item.index_ = 0;
  for (const LazyView& view : document->root()) {
    if (item.index_ == bounds.count_max)
      return error("has more than {} elements", bounds.count_max);
    item.raw_ = view.raw_json();
    WEFT_OK(use(item));
    ++item.index_;
  }
  return {};
}

Result<std::vector<Value>> Value::array(CountBounds bounds) const {
  std::vector<Value> items;
  WEFT_OK(for_each(bounds, [&](const Value& item) -> Result<> {
    items.push_back(item);
    return {};
  }));
  return items;
}

Result<std::string> Value::string(StringBounds bounds) const {
  WEFT_OK(expect(Kind::string));
  auto text = unescape(raw_);
  if (!text) return error("{}", text.error().message);
  if (text->size() > bounds.bytes_max)
    return error("has {} bytes; at most {} are allowed", text->size(), bounds.bytes_max);
  return std::move(*text);
}

Result<bool> Value::boolean() const {
  WEFT_OK(expect(Kind::boolean));
  return raw_.front() == 't';
}

Result<std::int64_t> Value::integer(IntegerBounds bounds) const {
  WEFT_OK(expect(Kind::number));
  if (raw_.find_first_of(".eE") != std::string_view::npos)
    return error("must be a whole number, not {}", raw_);
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(raw_.data(), raw_.data() + raw_.size(), value);
  if (code != std::errc() || end != raw_.data() + raw_.size() || value < bounds.min ||
      value > bounds.max) {
    return error("must be from {} to {}, not {}", bounds.min, bounds.max, raw_);
  }
  return value;
}

Result<std::uint64_t> Value::unsigned_integer(std::uint64_t max) const {
  WEFT_OK(expect(Kind::number));
  if (raw_.find_first_of(".eE") != std::string_view::npos)
    return error("must be a whole number, not {}", raw_);
  std::uint64_t value = 0;
  const auto [end, code] = std::from_chars(raw_.data(), raw_.data() + raw_.size(), value);
  if (code != std::errc() || end != raw_.data() + raw_.size() || value > max)
    return error("must be from 0 to {}, not {}", max, raw_);
  return value;
}

Result<double> Value::number() const {
  WEFT_OK(expect(Kind::number));
  double value = 0;
  const auto [end, code] = std::from_chars(raw_.data(), raw_.data() + raw_.size(), value);
  if (code != std::errc() || end != raw_.data() + raw_.size() || !std::isfinite(value))
    return error("is not a number that a double holds: {}", raw_);
  return value;
}

Result<std::string_view> Value::number_text() const {
  WEFT_OK(expect(Kind::number));
  return raw_;
}

std::optional<Value> Object::find(std::string_view key) const {
  const auto at = std::ranges::find(
      members_, key, [](const auto& member) -> std::string_view { return member.first; });
  if (at == members_.end()) return std::nullopt;
  return at->second;
}

Result<Value> Object::get(std::string_view key) const {
  if (auto found = find(key)) return *std::move(found);
  return value_.error("lacks the key \"{}\"", key);
}

}  // namespace weft::json
