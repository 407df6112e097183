// Python's two ways to format texts, integers and floats: "..." % values and "...".format(...).
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "common/base/utf8.h"
#include "engine/jinja/interpreter.h"
#include "engine/jinja/print.h"
#include "engine/jinja/tables.h"
#include "engine/jinja/text_tools.h"

namespace weft::jinja {
namespace {

constexpr int width_max = 1'000'000, precision_max = 1'000;

struct Spec {
  std::string fill = " ";
  char align = '\0';  // The alignment: < > ^ or =; 0 takes the default.
  char sign = '-';    // The sign option: +, - or a space.
  bool alternate = false, grouped = false;
  int width = 0;
  int precision = -1;
  char type = '\0';
};

std::string number_text(double value, const Spec& spec, char type) {
  const int precision = std::min(spec.precision < 0 ? 6 : spec.precision, precision_max);
  const char format[] = {'%',
                         spec.alternate ? '#' : '.',
                         spec.alternate ? '.' : '*',
                         spec.alternate ? '*' : type,
                         spec.alternate ? type : '\0',
                         '\0'};
  std::string buffer(static_cast<std::size_t>(precision) + 400, '\0');
  const int written =
      std::snprintf(buffer.data(), buffer.size(), format, precision, std::fabs(value));
  buffer.resize(static_cast<std::size_t>(std::max(written, 0)));
  return buffer;
}

std::string grouped(std::string digits) {
  const std::size_t end = std::min(digits.find_first_not_of("0123456789"), digits.size());
  for (std::size_t at = end; at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

// Joins the sign and the digits, and fills the text up to the width.
std::string padded(const std::string& sign, const std::string& body, const Spec& spec,
                   char default_align) {
  const auto length = static_cast<int>(length_of(sign) + length_of(body));
  const int missing = std::max(spec.width - length, 0);
  const char align = spec.align == '\0' ? default_align : spec.align;
  const auto fill = [&](int count) {
    std::string out;
    for (int i = 0; i < count; ++i) out += spec.fill;
    return out;
  };
  switch (align) {
    case '<':
      return sign + body + fill(missing);
    case '^':
      return fill(missing / 2) + sign + body + fill(missing - missing / 2);
    case '=':
      return sign + fill(missing) + body;
    default:
      return fill(missing) + sign + body;
  }
}

std::string sign_of(bool negative, const Spec& spec) {
  return negative ? "-" : spec.sign == '-' ? "" : std::string(1, spec.sign);
}

Result<std::string> format_integer(Integer value, const Spec& spec, char type) {
  const int base = type == 'x' || type == 'X' ? 16 : type == 'o' ? 8 : type == 'b' ? 2 : 10;
  std::string digits = integer_text(value, base);
  const bool negative = digits.starts_with('-');
  if (negative) digits.erase(0, 1);
  if (spec.precision >= 0 && digits.size() < static_cast<std::size_t>(spec.precision))
    digits.insert(
        0, static_cast<std::size_t>(std::min(spec.precision, precision_max)) - digits.size(), '0');
  if (type == 'X') digits = to_upper(digits);
  if (spec.grouped) digits = grouped(std::move(digits));
  std::string sign = sign_of(negative, spec);
  if (spec.alternate && base != 10)
    sign += base == 16 ? (type == 'X' ? "0X" : "0x") : base == 8 ? "0o" : "0b";
  return padded(sign, digits, spec, '>');
}

Result<std::string> format_floating(double value, const Spec& spec, char type) {
  const bool negative = std::signbit(value) && !std::isnan(value);
  std::string digits;
  if (!std::isfinite(value)) {
    digits = std::isnan(value) ? "nan" : "inf";
  } else if (type == '%') {
    digits = number_text(value * 100, spec, 'f') + "%";
  } else {
    digits = number_text(value, spec, type);
  }
  if (spec.grouped) digits = grouped(std::move(digits));
  return padded(sign_of(negative, spec), digits, spec, '>');
}

std::string cut(std::string_view text, int precision) {
  if (precision < 0) return std::string(text);
  const auto offsets = code_point_offsets(text);
  return std::string(
      text.substr(0, offsets[std::min(static_cast<std::size_t>(precision), offsets.size() - 1)]));
}

// Reads a format: [[fill]align][sign][#][0][width][,][.precision][type].
Result<Spec> parse_spec(std::string_view text) {
  Spec spec;
  const auto refuse = [&] { return fault("the format '{}' is not valid", text); };
  std::string_view rest = text;
  const auto is_align = [](char c) { return c == '<' || c == '>' || c == '^' || c == '='; };
  if (!rest.empty()) {
    const std::size_t first = utf8::decode(rest, 0).bytes;
    if (first < rest.size() && is_align(rest[first])) {
      spec.fill = rest.substr(0, first);
      spec.align = rest[first];
      rest.remove_prefix(first + 1);
    } else if (is_align(rest[0])) {
      spec.align = rest[0];
      rest.remove_prefix(1);
    }
  }
  const auto skip = [&](char c) {
    if (!rest.starts_with(c)) return false;
    rest.remove_prefix(1);
    return true;
  };
  const auto number = [&](int& value, int max) {
    const auto read = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    if (read.ec != std::errc() || value < 0 || value > max) return false;
    rest.remove_prefix(static_cast<std::size_t>(read.ptr - rest.data()));
    return true;
  };
  for (const char sign : {'+', '-', ' '})
    if (skip(sign)) spec.sign = sign;
  spec.alternate = skip('#');
  if (rest.starts_with('0') && spec.align == '\0') {
    spec.fill = "0";
    spec.align = '=';
  }
  if (!rest.empty() && rest[0] >= '0' && rest[0] <= '9' && !number(spec.width, width_max))
    return refuse();
  spec.grouped = skip(',');
  if (skip('.') && !number(spec.precision, precision_max)) return refuse();
  if (!rest.empty()) {
    spec.type = rest[0];
    rest.remove_prefix(1);
  }
  if (!rest.empty()) return refuse();
  return spec;
}

Result<std::string> format_by_spec(const Value& value, std::string_view text) {
  if (text.empty()) return to_str(value);
  WEFT_ASSIGN(const Spec spec, parse_spec(text));
  const auto unknown = [&] {
    return fault("the format '{}' does not fit a {}", text, type_name(value));
  };
  if (value.is(Kind::string)) {
    if ((spec.type != '\0' && spec.type != 's') || spec.align == '=' || spec.grouped)
      return unknown();
    return padded("", cut(value.as_text(), spec.precision), spec, '<');
  }
  const bool is_float_type =
      std::string_view("eEfFgG%").find(spec.type) != std::string_view::npos && spec.type != '\0';
  if (value.is_integral() &&
      (spec.type == '\0' || std::string_view("dxXob").find(spec.type) != std::string_view::npos)) {
    if (spec.precision >= 0) return unknown();
    return format_integer(value.as_integer(), spec, spec.type);
  }
  if (value.is_number() && is_float_type)
    return format_floating(value.as_number(), spec, spec.type);
  if (value.is(Kind::floating) && spec.type == '\0') {
    if (spec.precision >= 0) return format_floating(value.as_floating(), spec, 'g');
    std::string digits = floating_text(std::fabs(value.as_floating()));
    if (spec.grouped) digits = grouped(std::move(digits));
    return padded(sign_of(std::signbit(value.as_floating()), spec), digits, spec, '>');
  }
  return unknown();
}

// The values for "%", which are taken one by one or by name.
class PercentValues {
 public:
  explicit PercentValues(const Value& values)
      : values_(values), is_tuple_(values.is(Kind::tuple)) {}

  Result<Value> next() {
    const std::size_t count = is_tuple_ ? values_.items().size() : 1;
    if (taken_ == count) return fault("there are not enough values for the format");
    ++taken_;
    return is_tuple_ ? values_.items()[taken_ - 1] : values_;
  }
  Result<Value> named(std::string_view name) {
    by_name_ = true;
    if (!values_.is(Kind::dict)) return fault("the format needs a dict");
    const Value* value = values_.as_dict().find(name);
    if (value == nullptr) return fault("the format's '{}' is not given", name);
    return *value;
  }
  [[nodiscard]] bool all_taken() const {
    if (by_name_ || values_.is(Kind::dict) || values_.is(Kind::list)) return true;
    return taken_ == (is_tuple_ ? values_.items().size() : 1);
  }

 private:
  const Value values_;
  const bool is_tuple_;
  std::size_t taken_ = 0;
  bool by_name_ = false;
};

Result<std::string> format_percent_value(const Value& value, const Spec& spec, char type) {
  const auto mismatch = [&] {
    return value.is(Kind::undefined)
               ? undefined_fault(value)
               : fault("%{} needs a number, not a {}", type, type_name(value));
  };
  switch (type) {
    case 's':
      return padded("", cut(to_str(value), spec.precision), spec, '>');
    case 'r':
    case 'a':
      return padded("", cut(to_repr(value), spec.precision), spec, '>');
    case 'c': {
      if (value.is(Kind::string) && length_of(value.as_text()) == 1)
        return padded("", std::string(value.as_text()), spec, '>');
      if (!value.is_integral() || value.as_integer() < 0 || value.as_integer() > 0x10FFFF)
        return fault("%c needs one character");
      return padded("", utf8::encode(static_cast<char32_t>(value.as_integer())), spec, '>');
    }
    case 'd':
    case 'i':
    case 'u': {
      if (!value.is_number()) return mismatch();
      if (value.is(Kind::floating) && std::fabs(value.as_floating()) >= 1e37)
        return fault("the number is too large for %d");
      return format_integer(
          value.is(Kind::floating) ? static_cast<Integer>(value.as_floating()) : value.as_integer(),
          spec, 'd');
    }
    case 'x':
    case 'X':
    case 'o':
      if (!value.is_integral()) return mismatch();
      return format_integer(value.as_integer(), spec, type);
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
      if (!value.is_number()) return mismatch();
      return format_floating(value.as_number(), spec, type);
    default:
      return fault("'%{}' is not a format", type);
  }
}

}  // namespace

Result<std::string> format_percent(Interpreter& interpreter, std::string_view format,
                                   const Value& values) {
  PercentValues given(values);
  std::string out;
  for (std::size_t at = 0; at < format.size(); ++at) {
    if (format[at] != '%') {
      out.push_back(format[at]);
      continue;
    }
    const auto current = [&] { return at < format.size() ? format[at] : '\0'; };
    ++at;
    if (current() == '%') {
      out.push_back('%');
      continue;
    }
    std::optional<Value> value;
    if (current() == '(') {
      const std::size_t end = format.find(')', at);
      if (end == std::string_view::npos) return fault("a format's name has no ')'");
      WEFT_ASSIGN(value, given.named(format.substr(at + 1, end - at - 1)));
      at = end + 1;
    }
    Spec spec;
    bool left = false, zero = false;
    for (; current() != '\0' && std::string_view("-+ #0").find(current()) != std::string_view::npos;
         ++at) {
      left = left || current() == '-';
      zero = zero || current() == '0';
      if (current() == '+' || (current() == ' ' && spec.sign != '+')) spec.sign = current();
      spec.alternate = spec.alternate || current() == '#';
    }
    const auto number = [&](int max) -> Result<int> {
      if (current() == '*') {
        ++at;
        WEFT_ASSIGN(const Value star, given.next());
        if (!star.is_integral() || star.as_integer() < -max || star.as_integer() > max)
          return fault("a format's '*' is not a fitting integer");
        return static_cast<int>(star.as_integer());
      }
      int result = 0;
      for (; current() >= '0' && current() <= '9'; ++at) {
        result = result * 10 + (current() - '0');
        if (result > max) return fault("a format's number is greater than {}", max);
      }
      return result;
    };
    WEFT_ASSIGN(spec.width, number(width_max));
    if (spec.width < 0) {
      left = true;
      spec.width = -spec.width;
    }
    if (current() == '.') {
      ++at;
      WEFT_ASSIGN(spec.precision, number(precision_max));
      spec.precision = std::max(spec.precision, 0);
    }
    while (current() == 'h' || current() == 'l' || current() == 'L') ++at;
    const char type = current();
    if (type == '\0') return fault("the format is not complete");
    if (left) {
      spec.align = '<';
    } else if (zero && std::string_view("sracu").find(type) == std::string_view::npos) {
      spec.align = '=';
      spec.fill = "0";
    }
    if (!value) {
      WEFT_ASSIGN(value, given.next());
    }
    WEFT_ASSIGN(const std::string part, format_percent_value(*value, spec, type));
    WEFT_OK(interpreter.charge(part.size()));
    out += part;
  }
  if (!given.all_taken()) return fault("not all values were used by the format");
  return out;
}

Result<std::string> format_braces(Interpreter& interpreter, std::string_view format,
                                  const Arguments& arguments) {
  std::string out;
  std::size_t next = 0;
  for (std::size_t at = 0; at < format.size(); ++at) {
    const char c = format[at];
    const bool doubled = at + 1 < format.size() && format[at + 1] == c;
    if (c != '{' && c != '}') {
      out.push_back(c);
      continue;
    }
    if (doubled) {
      out.push_back(c);
      ++at;
      continue;
    }
    const std::size_t end = format.find('}', at);
    if (c == '}' || end == std::string_view::npos) return fault("the format has a single '{}'", c);
    const std::string_view field = format.substr(at + 1, end - at - 1);
    if (field.find('{') != std::string_view::npos)
      return fault("a format inside a format is not supported");
    at = end;
    const std::size_t colon = field.find(':');
    std::string_view head = field.substr(0, colon);
    const std::string_view spec =
        colon == std::string_view::npos ? std::string_view() : field.substr(colon + 1);
    bool as_repr = false;
    if (head.ends_with("!r") || head.ends_with("!s")) {
      as_repr = head.ends_with("!r");
      head.remove_suffix(2);
    }
    const std::size_t name_end = std::min(head.find_first_of(".["), head.size());
    const std::string_view name = head.substr(0, name_end);
    Value value;
    std::size_t index = 0;
    if (name.empty() || std::from_chars(name.data(), name.data() + name.size(), index).ptr ==
                            name.data() + name.size()) {
      if (name.empty()) index = next++;
      if (index >= arguments.positional.size()) return fault("the format needs a value {}", index);
      value = arguments.positional[index];
    } else {
      const auto found = std::ranges::find(arguments.named, name,
                                           [](const auto& argument) { return argument.first; });
      if (found == arguments.named.end()) return fault("the format's '{}' is not given", name);
      value = found->second;
    }
    for (std::string_view rest = head.substr(name_end); !rest.empty();) {
      const bool is_index = rest[0] == '[';
      const std::size_t stop =
          is_index ? rest.find(']') : std::min(rest.find_first_of(".[", 1), rest.size());
      if (stop == std::string_view::npos) return fault("a format's '[' has no ']'");
      const std::string_view key = rest.substr(1, stop - 1);
      std::size_t place = 0;
      if (is_index &&
          std::from_chars(key.data(), key.data() + key.size(), place).ptr ==
              key.data() + key.size() &&
          !key.empty()) {
        WEFT_ASSIGN(value,
                    interpreter.subscript(value, Value::integer(static_cast<Integer>(place))));
      } else {
        WEFT_ASSIGN(value, interpreter.attribute(value, key));
      }
      rest.remove_prefix(stop + (is_index ? 1 : 0));
    }
    if (as_repr) value = interpreter.text(to_repr(value));
    WEFT_ASSIGN(const std::string part, format_by_spec(value, spec));
    WEFT_OK(interpreter.charge(part.size()));
    out += part;
  }
  return out;
}

}  // namespace weft::jinja
