#include "engine/schema/scalars.h"

#include <algorithm>
#include <cmath>

#include "common/base/utf8.h"
#include "engine/schema/counts.h"
#include "engine/schema/formats.h"
#include "engine/schema/number_rules.h"
#include "engine/schema/pattern.h"

namespace weft::schema {
namespace {

Result<std::optional<double>> bound_of(const Keywords& keywords, const std::string& key) {
  const json::Value* const value = keywords.find(key);
  if (value == nullptr) return std::nullopt;
  if (value->kind() == json::Kind::boolean)
    return unsupported_keyword(key, keywords.pointer, "as a boolean");
  if (value->kind() != json::Kind::number)
    return wrong_keyword(key, keywords.pointer, "is not a number");
  WEFT_ASSIGN(const double number, value->number());
  return number;
}

}  // namespace

Result<Expression> write_listed(const Conjunction& all, const std::vector<json::Value>& values,
                                unsigned types) {
  for (const Keywords& one : all.all) {
    for (const auto& [key, value] : one.values) {
      const bool listing = key == "enum" || key == "const" || key == "type";
      const auto format = key == "format" ? value.string() : Result<std::string>("");
      const bool hint = format && is_number_format(*format);
      if (!listing && !hint)
        return unsupported_keyword(key, one.pointer, "beside 'enum' or 'const'");
    }
  }
  std::vector<std::string> parts;
  for (const json::Value& value : values) {
    if ((type_of(value) & types) == 0) continue;
    WEFT_ASSIGN(const std::string text, canonical(value));
    parts.push_back(literal(text));
  }
  if (parts.empty()) return std::nullopt;
  return any_of(parts);
}

Result<Expression> write_number(const Conjunction& all, bool integer, Rules& rules) {
  NumberBounds bounds;
  double divisor = 0;
  std::string where = "#";
  for (const Keywords& one : all.all) {
    WEFT_ASSIGN(const auto least, bound_of(one, "minimum"));
    WEFT_ASSIGN(const auto most, bound_of(one, "maximum"));
    WEFT_ASSIGN(const auto above, bound_of(one, "exclusiveMinimum"));
    WEFT_ASSIGN(const auto below, bound_of(one, "exclusiveMaximum"));
    WEFT_ASSIGN(const auto multiple, bound_of(one, "multipleOf"));
    if (least) bounds.raise(*least, false);
    if (above) bounds.raise(*above, true);
    if (most) bounds.lower(*most, false);
    if (below) bounds.lower(*below, true);
    if (least || most || above || below || multiple) where = one.pointer;
    if (!multiple) continue;
    if (*multiple <= 0) return wrong_keyword("multipleOf", one.pointer, "is not above 0");
    if (std::floor(*multiple) != *multiple || *multiple > 1e12)
      return unsupported_keyword("multipleOf", one.pointer, "with a number that is not whole");
    if (divisor != 0 && divisor != *multiple)
      return unsupported_keyword("multipleOf", one.pointer, "beside another one");
    divisor = *multiple;
  }
  if (divisor > 1) {
    auto out = multiple_expression(bounds, static_cast<std::int64_t>(divisor), rules);
    if (!out) return unsupported_keyword("multipleOf", where, out.error().message);
    return out;
  }
  auto out = integer || divisor == 1 ? integer_expression(bounds) : number_expression(bounds);
  if (!out)
    return fail(ErrorCode::unsupported, "The schema's number at {} has a bound that {}.", where,
                out.error().message);
  return out;
}

Result<Expression> write_string(const Conjunction& all, const std::string& where, Rules& rules) {
  WEFT_ASSIGN(const std::uint64_t least, largest(all, "minLength"));
  WEFT_ASSIGN(const auto most, smallest(all, "maxLength"));
  if (most && *most < least) return std::nullopt;
  std::optional<Pattern> pattern;
  std::string source;
  for (const Keywords& one : all.all) {
    const json::Value* const given = one.find("pattern");
    const json::Value* const format = one.find("format");
    const auto use = [&](const std::string& text, std::string_view keyword) -> Result<> {
      if (pattern && source != text)
        return unsupported_keyword(keyword, one.pointer, "beside another 'pattern' or 'format'");
      auto read = read_pattern(text);
      if (!read)
        return fail(read.error().code, "The pattern '{}' at {} {}.", text, one.pointer,
                    read.error().message);
      pattern = std::move(*read);
      source = text;
      return {};
    };
    if (given != nullptr) {
      if (given->kind() != json::Kind::string)
        return wrong_keyword("pattern", one.pointer, "is not a string");
      WEFT_ASSIGN(const std::string text, given->string());
      WEFT_OK(use(text, "pattern"));
    }
    if (format != nullptr) {
      if (format->kind() != json::Kind::string)
        return wrong_keyword("format", one.pointer, "is not a string");
      WEFT_ASSIGN(const std::string name, format->string());
      const auto known = format_pattern(name);
      if (!known && !is_number_format(name))
        return unsupported_keyword("format", one.pointer, weft::format("with \"{}\"", name));
      if (known) WEFT_OK(use(std::string(*known), "format"));
    }
  }
  if (pattern) {
    const bool fits =
        pattern->least >= least && (!most || (pattern->most && *pattern->most <= *most));
    if (!fits)
      return unsupported_keyword(least > pattern->least ? "minLength" : "maxLength", where,
                                 "beside a 'pattern' or 'format' of other lengths");
    return weft::format(R"("\"" {} "\"")", rules.define(pattern->expression));
  }
  if (least == 0 && !most) return "string";
  const std::string characters = times("char", least, most);
  return weft::format(R"("\"" {} "\"")", characters);
}

}  // namespace weft::schema
