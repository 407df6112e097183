// Filters for numbers, and the few filters for values of any kind.
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "common/base/format.h"
#include "engine/jinja/interpreter.h"
#include "engine/jinja/print.h"
#include "engine/jinja/tables.h"
#include "engine/jinja/text_tools.h"

namespace weft::jinja {
namespace {

Result<Value> absolute(Interpreter&, const Value& input, const Arguments&) {
  if (input.is_integral())
    return input.as_integer() < 0 ? apply_unary(UnaryOperator::minus, input)
                                  : Value::integer(input.as_integer());
  if (input.is(Kind::floating)) return Value::floating(std::fabs(input.as_floating()));
  if (input.is(Kind::undefined)) return undefined_fault(input);
  return fault("a {} has no absolute value", type_name(input));
}

// Rounds as Python's round() does: exactly half goes to the even digit, by the exact value of the
// number.
double rounded(double value, int precision) {
  if (!std::isfinite(value) || precision > 300) return value;
  if (precision >= 0) {
    char buffer[700];
    std::snprintf(buffer, sizeof buffer, "%.*f", precision, value);
    return std::strtod(buffer, nullptr);
  }
  const double scale = std::pow(10.0, -precision);
  return std::isfinite(scale) ? std::nearbyint(value / scale) * scale : 0.0;
}

Result<Value> round(Interpreter&, const Value& input, const Arguments& arguments) {
  WEFT_ASSIGN(const Given given, Given::bind(arguments, {"precision", "method"}));
  WEFT_ASSIGN(const Integer wanted, given.integer_or(0, 0));
  if (input.is(Kind::undefined)) return undefined_fault(input);
  if (!input.is_number()) return fault("a {} cannot be rounded", type_name(input));
  const int precision = static_cast<int>(std::clamp<Integer>(wanted, -400, 400));
  const std::string method = given.has(1) ? to_str(*given[1]) : "common";
  if (method == "common") {
    if (input.is_integral() && precision >= 0) return Value::integer(input.as_integer());
    const double value = rounded(input.as_number(), precision);
    return input.is_integral() ? Value::integer(static_cast<Integer>(value))
                               : Value::floating(value);
  }
  const double scale = std::pow(10.0, precision);
  if (method == "ceil") return Value::floating(std::ceil(input.as_number() * scale) / scale);
  if (method == "floor") return Value::floating(std::floor(input.as_number() * scale) / scale);
  return fault("round's method is common, ceil or floor, not '{}'", method);
}

// Reads a whole text as an integer in a base; underscores may stand between digits.
std::optional<Integer> parse_integer(std::string_view text, Integer base) {
  text = strip(text, {}, std::nullopt);
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  const char second = text.size() > 1 && text[0] == '0' ? static_cast<char>(text[1] | 0x20) : '\0';
  const Integer prefix_base = second == 'x' ? 16 : second == 'o' ? 8 : second == 'b' ? 2 : 0;
  if (prefix_base != 0 && (base == prefix_base || base == 0)) {
    text.remove_prefix(2);
    base = prefix_base;
  }
  if (base == 0) base = 10;
  Integer value = 0;
  bool after_digit = false;
  for (const char c : text) {
    if (c == '_' && after_digit) {
      after_digit = false;
      continue;
    }
    const char lower = static_cast<char>(c | 0x20);
    const int digit = c >= '0' && c <= '9'           ? c - '0'
                      : lower >= 'a' && lower <= 'z' ? lower - 'a' + 10
                                                     : 99;
    if (digit >= base || __builtin_mul_overflow(value, base, &value) ||
        __builtin_sub_overflow(value, Integer{digit}, &value))
      return std::nullopt;
    after_digit = true;
  }
  if (!after_digit) return std::nullopt;
  if (negative) return value;
  Integer positive = 0;
  if (__builtin_sub_overflow(Integer{0}, value, &positive)) return std::nullopt;
  return positive;
}

std::optional<double> parse_floating(std::string_view text) {
  text = strip(text, {}, std::nullopt);
  std::string clean(text);
  std::erase(clean, '_');
  if (clean.starts_with('+')) clean.erase(0, 1);
  double value = 0;
  const auto read = std::from_chars(clean.data(), clean.data() + clean.size(), value);
  if (read.ptr != clean.data() + clean.size() || clean.empty()) return std::nullopt;
  if (read.ec == std::errc::result_out_of_range) return std::strtod(clean.c_str(), nullptr);
  if (read.ec != std::errc()) return std::nullopt;
  return value;
}

std::optional<Integer> truncated(double value) {
  if (!(std::fabs(value) < 1e38)) return std::nullopt;
  return static_cast<Integer>(value);
}

Result<Value> to_int(Interpreter&, const Value& input, const Arguments& arguments) {
  WEFT_ASSIGN(const Given given, Given::bind(arguments, {"default", "base"}));
  WEFT_ASSIGN(const Integer base, given.integer_or(1, 10));
  const Value otherwise = given.value_or(0, Value::integer(0));
  if (input.is(Kind::undefined)) return undefined_fault(input);
  if (input.is_integral()) return Value::integer(input.as_integer());
  std::optional<Integer> value;
  if (input.is(Kind::floating)) value = truncated(input.as_floating());
  if (input.is(Kind::string)) {
    value = base == 0 || (base >= 2 && base <= 36) ? parse_integer(input.as_text(), base)
                                                   : std::nullopt;
    if (!value) {
      if (const auto number = parse_floating(input.as_text())) value = truncated(*number);
    }
  }
  return value ? Value::integer(*value) : otherwise;
}

Result<Value> to_float(Interpreter&, const Value& input, const Arguments& arguments) {
  WEFT_ASSIGN(const Given given, Given::bind(arguments, {"default"}));
  if (input.is(Kind::undefined)) return undefined_fault(input);
  if (input.is_number()) return Value::floating(input.as_number());
  if (input.is(Kind::string)) {
    if (const auto value = parse_floating(input.as_text())) return Value::floating(*value);
  }
  return given.value_or(0, Value::floating(0));
}

Result<Value> otherwise(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
  WEFT_ASSIGN(const Given given, Given::bind(arguments, {"default_value", "boolean"}));
  const bool replaces =
      input.is(Kind::undefined) || (given.is_true_or(1, false) && !is_true(input));
  return replaces ? given.value_or(0, interpreter.text("")) : input;
}

Result<Value> attribute(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
  WEFT_ASSIGN(const Given given, Given::bind(arguments, {"name"}));
  WEFT_ASSIGN(const Value name, given.required(0));
  if (input.is(Kind::undefined)) return undefined_fault(input);
  const std::string text = to_str(name);
  if (input.is(Kind::dict) && find_method(input, text) == nullptr)
    return interpreter.heap().undefined(weft::format("'dict object' has no attribute '{}'", text));
  return interpreter.attribute(input, text);
}

Result<Value> file_size(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
  WEFT_ASSIGN(const Given given, Given::bind(arguments, {"binary"}));
  WEFT_ASSIGN(const Value number,
              to_float(interpreter, input, {.positional = {Value::none()}, .named = {}}));
  if (!number.is(Kind::floating)) return fault("a {} is not a size", type_name(input));
  const double bytes = number.as_floating(), base = given.is_true_or(0, false) ? 1024 : 1000;
  static constexpr std::string_view decimal[] = {"kB", "MB", "GB", "TB", "PB", "EB", "ZB", "YB"};
  static constexpr std::string_view binary[] = {"KiB", "MiB", "GiB", "TiB",
                                                "PiB", "EiB", "ZiB", "YiB"};
  if (bytes == 1) return interpreter.text("1 Byte");
  if (!(bytes >= base))
    return interpreter.text(weft::format("{} Bytes", integer_text(truncated(bytes).value_or(0))));
  double unit = base;
  std::size_t i = 0;
  while (i + 1 < std::size(decimal) && bytes >= unit * base) {
    unit *= base;
    ++i;
  }
  return interpreter.text(
      weft::format("{:.1f} {}", bytes / unit, base == 1024 ? binary[i] : decimal[i]));
}

constexpr Row<Filter> rows[] = {
    {"abs", absolute},      {"round", round}, {"int", to_int},     {"float", to_float},
    {"default", otherwise}, {"d", otherwise}, {"attr", attribute}, {"filesizeformat", file_size}};

}  // namespace

Filter find_number_filter(std::string_view name) { return find_row(rows, name); }

Filter find_filter(std::string_view name) {
  for (const auto find :
       {find_text_filter, find_sequence_filter, find_choice_filter, find_number_filter})
    if (const Filter filter = find(name)) return filter;
  return nullptr;
}

}  // namespace weft::jinja
