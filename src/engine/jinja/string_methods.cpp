// The methods of strings (Python's str).
#include <algorithm>

#include "common/base/utf8.h"
#include "engine/jinja/interpreter.h"
#include "engine/jinja/print.h"
#include "engine/jinja/tables.h"
#include "engine/jinja/text_tools.h"
#include "engine/unicode/character.h"

namespace weft::jinja {
namespace {

using unicode::Class;

Value same_kind(Interpreter& interpreter, const Value& self, std::string text) {
  return interpreter.heap().string(std::move(text), self.is_markup());
}

long long clamped(Integer value) {
  return static_cast<long long>(std::clamp<Integer>(value, -1, Integer{1} << 40));
}

template <std::string (*convert)(std::string_view)>
Result<Value> converted(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  WEFT_OK(Given::bind(arguments, {}));
  WEFT_OK(interpreter.charge(self.as_text().size() * 2));
  return same_kind(interpreter, self, convert(self.as_text()));
}

template <bool left, bool right>
Result<Value> stripped(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  WEFT_ASSIGN(const Given given, Given::bind(arguments, {"chars"}));
  std::optional<std::string_view> characters;
  if (given.has(0) && !given[0]->is(Kind::none)) {
    WEFT_ASSIGN(characters, given.required_text(0));
  }
  WEFT_OK(interpreter.charge(self.as_text().size()));
  return same_kind(interpreter, self,
                   std::string(strip(self.as_text(), {.left = left, .right = right}, characters)));
}

Result<Value> list_of(Interpreter& interpreter, const Value& self,
                      const std::vector<std::string_view>& parts) {
  WEFT_OK(
      interpreter.charge(parts.size() * (sizeof(Value) + sizeof(String)) + self.as_text().size()));
  std::vector<Value> items;
  for (const std::string_view part : parts)
    items.push_back(same_kind(interpreter, self, std::string(part)));
  return interpreter.heap().list(std::move(items));
}

template <bool from_right>
Result<Value> split(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  WEFT_ASSIGN(const Given given, Given::bind(arguments, {"sep", "maxsplit"}));
  WEFT_ASSIGN(const Integer wanted, given.integer_or(1, -1));
  const long long splits_max = clamped(wanted);
  WEFT_OK(interpreter.charge(self.as_text().size()));
  if (!given.has(0) || given[0]->is(Kind::none))
    return list_of(interpreter, self,
                   from_right ? split_spaces_from_right(self.as_text(), splits_max)
                              : split_spaces(self.as_text(), splits_max));
  WEFT_ASSIGN(const std::string_view separator, given.required_text(0));
  if (separator.empty()) return fault("the separator is empty");
  return list_of(interpreter, self,
                 from_right ? split_at_from_right(self.as_text(), separator, splits_max)
                            : split_at(self.as_text(), separator, splits_max));
}

Result<Value> splitlines(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  WEFT_ASSIGN(const Given given, Given::bind(arguments, {"keepends"}));
  return list_of(interpreter, self, split_lines(self.as_text(), given.is_true_or(0, false)));
}

template <bool from_right>
Result<Value> partition(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  WEFT_ASSIGN(const Given given, Given::bind(arguments, {"sep"}));
  WEFT_ASSIGN(const std::string_view separator, given.required_text(0));
  if (separator.empty()) return fault("the separator is empty");
  const std::string_view all = self.as_text();
  const std::size_t at = from_right ? all.rfind(separator) : all.find(separator);
  std::string parts[3];
  if (at == std::string_view::npos) {
    parts[from_right ? 2 : 0] = all;
  } else {
    parts[0] = all.substr(0, at);
    parts[1] = separator;
    parts[2] = all.substr(at + separator.size());
  }
  std::vector<Value> items;
  for (std::string& part : parts) items.push_back(interpreter.text(std::move(part)));
  return interpreter.heap().tuple(std::move(items));
}

// The part of a text between two bounds in code points, as startswith(), find() and count() take
// them.
struct Part {
  std::string_view text;
  std::size_t offset;  // The offset of the part in the whole text, in bytes.
};
Result<Part> part_of(const Value& self, const Given& given, std::size_t first) {
  const std::string_view all = self.as_text();
  if (!given.has(first)) return Part{all, 0};
  const auto offsets = code_point_offsets(all);
  const auto size = static_cast<Integer>(offsets.size() - 1);
  const auto bound = [&](Integer at) {
    return std::clamp<Integer>(at < 0 ? at + size : at, 0, size);
  };
  WEFT_ASSIGN(const Integer from, given.integer_or(first, 0));
  WEFT_ASSIGN(const Integer to, given.integer_or(first + 1, size));
  const auto begin = offsets[static_cast<std::size_t>(bound(from))],
             end = offsets[static_cast<std::size_t>(bound(to))];
  return Part{begin <= end ? all.substr(begin, end - begin) : std::string_view(), begin};
}

template <bool at_end>
Result<Value> starts_or_ends(Interpreter& interpreter, const Value& self,
                             const Arguments& arguments) {
  WEFT_ASSIGN(const Given given, Given::bind(arguments, {"prefix", "start", "end"}));
  WEFT_ASSIGN(const Value wanted, given.required(0));
  WEFT_ASSIGN(const Part part, part_of(self, given, 1));
  std::vector<Value> choices = {wanted};
  if (wanted.is(Kind::tuple)) choices.assign(wanted.items().begin(), wanted.items().end());
  WEFT_OK(interpreter.charge(choices.size()));
  for (const Value& choice : choices) {
    if (choice.is(Kind::undefined)) return undefined_fault(choice);
    if (!choice.is(Kind::string))
      return fault("startswith and endswith take a str or a tuple of str, not a {}",
                   type_name(choice));
    if (at_end ? part.text.ends_with(choice.as_text()) : part.text.starts_with(choice.as_text()))
      return Value::boolean(true);
  }
  return Value::boolean(false);
}

template <bool from_right, bool must_be_there>
Result<Value> find(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  WEFT_ASSIGN(const Given given, Given::bind(arguments, {"sub", "start", "end"}));
  WEFT_ASSIGN(const std::string_view wanted, given.required_text(0));
  WEFT_OK(interpreter.charge(self.as_text().size()));
  WEFT_ASSIGN(const Part part, part_of(self, given, 1));
  const std::size_t at = from_right ? part.text.rfind(wanted) : part.text.find(wanted);
  if (at != std::string_view::npos)
    return Value::integer(
        static_cast<Integer>(length_of(self.as_text().substr(0, part.offset + at))));
  if (must_be_there) return fault("the substring is not there");
  return Value::integer(-1);
}

Result<Value> count(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  WEFT_ASSIGN(const Given given, Given::bind(arguments, {"sub", "start", "end"}));
  WEFT_ASSIGN(const std::string_view wanted, given.required_text(0));
  WEFT_OK(interpreter.charge(self.as_text().size()));
  WEFT_ASSIGN(const Part part, part_of(self, given, 1));
  if (wanted.empty()) return Value::integer(static_cast<Integer>(length_of(part.text)) + 1);
  return Value::integer(static_cast<Integer>(split_at(part.text, wanted, -1).size()) - 1);
}

Result<Value> replace(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  WEFT_ASSIGN(const Given given, Given::bind(arguments, {"old", "new", "count"}));
  WEFT_ASSIGN(const std::string_view from, given.required_text(0));
  WEFT_ASSIGN(const std::string_view to, given.required_text(1));
  WEFT_ASSIGN(const Integer count_max, given.integer_or(2, -1));
  WEFT_OK(interpreter.charge(replaced_bytes(self.as_text(), from, to, clamped(count_max))));
  return same_kind(interpreter, self, replace_all(self.as_text(), from, to, clamped(count_max)));
}

Result<Value> join(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  WEFT_ASSIGN(const Given given, Given::bind(arguments, {"iterable"}));
  WEFT_ASSIGN(const Value iterable, given.required(0));
  WEFT_ASSIGN(const std::vector<Value> items, interpreter.elements_of(iterable));
  std::string out;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!items[i].is(Kind::string))
      return items[i].is(Kind::undefined) ? undefined_fault(items[i])
                                          : fault("join takes str, not {}", type_name(items[i]));
    WEFT_OK(
        interpreter.charge(out.size() / 64 + self.as_text().size() + items[i].as_text().size()));
    if (i > 0) out += self.as_text();
    out += items[i].as_text();
  }
  return same_kind(interpreter, self, std::move(out));
}

template <bool at_end>
Result<Value> without_affix(Interpreter& interpreter, const Value& self,
                            const Arguments& arguments) {
  WEFT_ASSIGN(const Given given, Given::bind(arguments, {"affix"}));
  WEFT_ASSIGN(const std::string_view affix, given.required_text(0));
  std::string_view text = self.as_text();
  if (at_end && text.ends_with(affix)) {
    text.remove_suffix(affix.size());
  } else if (!at_end && text.starts_with(affix)) {
    text.remove_prefix(affix.size());
  }
  return same_kind(interpreter, self, std::string(text));
}

// The side of the result on which the text stands: left for ljust, right for rjust, both for
// center.
enum class Side : std::uint8_t { left, right, both };
template <Side text_side>
Result<Value> justified(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  WEFT_ASSIGN(const Given given, Given::bind(arguments, {"width", "fillchar"}));
  WEFT_ASSIGN(const Value wanted, given.required(0));
  (void)wanted;
  WEFT_ASSIGN(const Integer width, given.integer_or(0, 0));
  std::string_view fill = " ";
  if (given.has(1)) {
    WEFT_ASSIGN(fill, given.required_text(1));
  }
  if (length_of(fill) != 1) return fault("the fill character is not one character");
  const auto length = static_cast<Integer>(length_of(self.as_text()));
  const Integer missing = std::max<Integer>(width - length, 0);
  WEFT_OK(interpreter.charge(
      static_cast<std::uint64_t>(std::min<Integer>(missing, Integer{1} << 40)) * fill.size()));
  // Python's center() puts the odd space to the left only if the width is odd.
  const Integer left = text_side == Side::left    ? 0
                       : text_side == Side::right ? missing
                                                  : missing / 2 + (missing & width & 1);
  std::string out;
  for (Integer i = 0; i < left; ++i) out += fill;
  out += self.as_text();
  for (Integer i = left; i < missing; ++i) out += fill;
  return same_kind(interpreter, self, std::move(out));
}

Result<Value> zfill(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  WEFT_ASSIGN(const Given given, Given::bind(arguments, {"width"}));
  WEFT_ASSIGN(const Integer width, given.integer_or(0, 0));
  std::string_view text = self.as_text();
  const Integer missing = std::max<Integer>(width - static_cast<Integer>(length_of(text)), 0);
  WEFT_OK(
      interpreter.charge(static_cast<std::uint64_t>(std::min<Integer>(missing, Integer{1} << 40))));
  std::string out;
  if (text.starts_with('-') || text.starts_with('+')) {
    out = text.substr(0, 1);
    text.remove_prefix(1);
  }
  out.append(static_cast<std::size_t>(missing), '0');
  return same_kind(interpreter, self, out.append(text));
}

Result<Value> format(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  WEFT_ASSIGN(std::string text, format_braces(interpreter, self.as_text(), arguments));
  return same_kind(interpreter, self, std::move(text));
}

// True if the text is not empty and all its characters are of a class.
template <Class wanted>
Result<Value> all_are(Interpreter&, const Value& self, const Arguments&) {
  const std::string_view text = self.as_text();
  for (std::size_t at = 0; at < text.size();) {
    const auto decoded = utf8::decode(text, at);
    const bool fits = wanted == Class::space ? unicode::is_python_space(decoded.code)
                                             : unicode::is(decoded.code, wanted);
    if (!fits) return Value::boolean(false);
    at += decoded.bytes;
  }
  return Value::boolean(!text.empty());
}
Result<Value> isalnum(Interpreter&, const Value& self, const Arguments&) {
  const std::string_view text = self.as_text();
  for (std::size_t at = 0; at < text.size();) {
    const auto decoded = utf8::decode(text, at);
    if (!unicode::is(decoded.code, Class::letter) && !unicode::is(decoded.code, Class::number))
      return Value::boolean(false);
    at += decoded.bytes;
  }
  return Value::boolean(!text.empty());
}
// Returns true if the text has characters of the case `wanted` and none of the case `other`.
template <Class wanted, Class other>
Result<Value> is_case(Interpreter&, const Value& self, const Arguments&) {
  bool any = false;
  const std::string_view text = self.as_text();
  for (std::size_t at = 0; at < text.size();) {
    const auto decoded = utf8::decode(text, at);
    if (unicode::is(decoded.code, other)) return Value::boolean(false);
    any = any || unicode::is(decoded.code, wanted);
    at += decoded.bytes;
  }
  return Value::boolean(any);
}
Result<Value> istitle(Interpreter&, const Value& self, const Arguments&) {
  const std::string_view text = self.as_text();
  return Value::boolean(to_title(text) == text && to_lower(text) != text);
}
Result<Value> isascii(Interpreter&, const Value& self, const Arguments&) {
  return Value::boolean(is_ascii(self.as_text()));
}

constexpr MethodRow rows[] = {
    {"upper", converted<to_upper>},
    {"lower", converted<to_lower>},
    {"casefold", converted<to_lower>},
    {"title", converted<to_title>},
    {"capitalize", converted<to_capitalized>},
    {"swapcase", converted<to_swapped_case>},
    {"strip", stripped<true, true>},
    {"lstrip", stripped<true, false>},
    {"rstrip", stripped<false, true>},
    {"split", split<false>},
    {"rsplit", split<true>},
    {"splitlines", splitlines},
    {"partition", partition<false>},
    {"rpartition", partition<true>},
    {"startswith", starts_or_ends<false>},
    {"endswith", starts_or_ends<true>},
    {"find", find<false, false>},
    {"rfind", find<true, false>},
    {"index", find<false, true>},
    {"rindex", find<true, true>},
    {"count", count},
    {"replace", replace},
    {"join", join},
    {"removeprefix", without_affix<false>},
    {"removesuffix", without_affix<true>},
    {"ljust", justified<Side::left>},
    {"rjust", justified<Side::right>},
    {"center", justified<Side::both>},
    {"zfill", zfill},
    {"format", format},
    {"isalpha", all_are<Class::letter>},
    {"isdigit", all_are<Class::digit>},
    {"isdecimal", all_are<Class::decimal>},
    {"isnumeric", all_are<Class::number>},
    {"isspace", all_are<Class::space>},
    {"isprintable", all_are<Class::printable>},
    {"isalnum", isalnum},
    {"islower", is_case<Class::lower, Class::upper>},
    {"isupper", is_case<Class::upper, Class::lower>},
    {"istitle", istitle},
    {"isascii", isascii},
};

}  // namespace

const MethodRow* find_string_method(std::string_view name) {
  const auto row = std::ranges::find(rows, name, &MethodRow::name);
  return row == std::end(rows) ? nullptr : &*row;
}

}  // namespace weft::jinja
