#include "engine/schema/writer.h"

#include <algorithm>
#include <cmath>

#include "common/base/utf8.h"
#include "engine/schema/formats.h"
#include "engine/schema/number_rules.h"
#include "engine/schema/pattern.h"

namespace weft::schema {
namespace {

constexpr std::size_t depth_max = 128;
constexpr std::size_t choices_max = 4096;
constexpr std::size_t bytes_max = std::size_t{1} << 20;

constexpr std::string_view number_keywords[] = {"minimum", "maximum", "exclusiveMinimum",
                                                "exclusiveMaximum", "multipleOf"};
constexpr std::string_view string_keywords[] = {"minLength", "maxLength", "pattern", "format"};
constexpr std::string_view array_keywords[] = {"items",    "prefixItems", "additionalItems",
                                               "minItems", "maxItems",    "uniqueItems"};
constexpr std::string_view object_keywords[] = {"properties", "required", "additionalProperties",
                                                "minProperties", "maxProperties"};

template <std::size_t n>
bool has_any(const Conjunction& all, const std::string_view (&keywords)[n]) {
  return std::ranges::any_of(all.all, [&](const Keywords& one) {
    return std::ranges::any_of(keywords, [&](std::string_view keyword) {
      return one.values.contains(std::string(keyword));
    });
  });
}

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

Result<std::optional<std::uint64_t>> count_of(const Keywords& keywords, const std::string& key) {
  const json::Value* const value = keywords.find(key);
  if (value == nullptr) return std::nullopt;
  const auto number = value->kind() == json::Kind::number ? value->number() : Result<double>(-1.0);
  if (!number || *number < 0 || *number > 0x1p53 || std::floor(*number) != *number)
    return wrong_keyword(key, keywords.pointer, "is not a count");
  return static_cast<std::uint64_t>(*number);
}

Result<std::uint64_t> largest(const Conjunction& all, const std::string& key) {
  std::uint64_t out = 0;
  for (const Keywords& one : all.all) {
    WEFT_ASSIGN(const auto count, count_of(one, key));
    out = std::max(out, count.value_or(0));
    if (out > times_most)
      return unsupported_keyword(key, one.pointer, weft::format("above {}", times_most));
  }
  return out;
}

Result<std::optional<std::uint64_t>> smallest(const Conjunction& all, const std::string& key) {
  std::optional<std::uint64_t> out;
  for (const Keywords& one : all.all) {
    WEFT_ASSIGN(const auto count, count_of(one, key));
    if (count && (!out || *count < *out)) out = count;
  }
  return out;
}

std::string times(const std::string& what, std::uint64_t least, std::optional<std::uint64_t> most) {
  if (!most) return weft::format("{}{{{},}}", what, least);
  const std::uint64_t bounded = std::min(*most, times_most);
  return bounded == 0 ? "" : weft::format("{}{{{},{}}}", what, least, bounded);
}

Result<Expression> SchemaWriter::write(const std::vector<Place>& places) {
  if (places.empty()) return "value";
  std::vector<std::string> pointers;
  for (const Place& place : places) pointers.push_back(place.pointer);
  std::ranges::sort(pointers);
  const auto repeated = std::ranges::unique(pointers);
  pointers.erase(repeated.begin(), repeated.end());
  std::string key;
  for (const std::string& pointer : pointers) key += pointer + "\n";
  if (const auto known = known_.find(key); known != known_.end()) return known->second;

  const std::string& where = places.front().pointer;
  if (depth_ >= depth_max)
    return fail(ErrorCode::resource_exhausted,
                "The schema at {} is nested more than {} levels deep; flatten it.", where,
                depth_max);
  if (rules_.bytes() > bytes_max)
    return fail(ErrorCode::resource_exhausted,
                "The schema needs a grammar of more than {} bytes; write it shorter.", bytes_max);
  // Known before it is written: it may refer to itself.
  std::string name = rules_.reserve(where);
  known_[key] = name;
  ++depth_;
  Conjunction all;
  for (const Place& place : places) WEFT_OK(document_.add(place, all));
  WEFT_ASSIGN(Expression body, write(std::move(all), where));
  --depth_;
  if (!body) {
    rules_.set(name, name);  // Without an end, so that a grammar that leads here is refused.
    known_[key] = std::nullopt;
    return std::nullopt;
  }
  rules_.set(name, std::move(*body));
  return name;
}

Result<Expression> SchemaWriter::write(Conjunction all, const std::string& where) {
  if (all.impossible) return std::nullopt;
  if (!all.choices.empty()) return write_choice(std::move(all), where);
  unsigned types = type_any;
  for (const Keywords& one : all.all) {
    WEFT_ASSIGN(const unsigned own, types_of(one));
    types &= own;
  }
  WEFT_ASSIGN(const auto values, listed(all));
  if (values) return write_listed(all, *values, types);

  // Keywords for one type say nothing about other types. If the schema names no type, its keywords
  // do: `properties` means an object.
  unsigned meant = 0;
  if (has_any(all, number_keywords)) meant |= type_integer | type_fraction;
  if (has_any(all, string_keywords)) meant |= type_string;
  if (has_any(all, array_keywords)) meant |= type_array;
  if (has_any(all, object_keywords)) meant |= type_object;
  if (types == type_any && meant != 0) types = meant;
  if (types == type_any) return "value";
  if (types == 0) return std::nullopt;

  std::vector<std::string> parts;
  const auto add = [&parts](Expression one) {
    if (one) parts.push_back(std::move(*one));
  };
  if ((types & type_null) != 0) parts.emplace_back("null");
  if ((types & type_boolean) != 0) parts.emplace_back("boolean");
  if ((types & (type_integer | type_fraction)) != 0) {
    WEFT_ASSIGN(Expression one, write_number(all, (types & type_fraction) == 0));
    add(std::move(one));
  }
  if ((types & type_string) != 0) {
    WEFT_ASSIGN(Expression one, write_string(all, where));
    add(std::move(one));
  }
  if ((types & type_array) != 0) {
    WEFT_ASSIGN(Expression one, write_array(all));
    add(std::move(one));
  }
  if ((types & type_object) != 0) {
    WEFT_ASSIGN(Expression one, write_object(all, where));
    add(std::move(one));
  }
  if (parts.empty()) return std::nullopt;
  return any_of(parts);
}

// Each option together with all else that holds.
Result<Expression> SchemaWriter::write_choice(Conjunction all, const std::string& where) {
  const Choice choice = std::move(all.choices.back());
  all.choices.pop_back();
  all.decided.insert(choice.path.begin(), choice.path.end());
  std::vector<std::string> parts;
  std::vector<Conjunction> options;
  for (const Place& option : choice.options) {
    if (++choices_ > choices_max)
      return fail(ErrorCode::resource_exhausted,
                  "The schema has more than {} combinations of its choices at {}; write fewer.",
                  choices_max, choice.pointer);
    Conjunction one = all;
    WEFT_OK(document_.add(option, one));
    if (choice.exclusive) {
      for (const Conjunction& other : options) {
        WEFT_ASSIGN(const bool overlap, document_.may_overlap(other, one));
        if (overlap)
          return unsupported_keyword("oneOf", where, "with options that may hold at the same time");
      }
      options.push_back(one);
    }
    WEFT_ASSIGN(Expression part, write(std::move(one), where));
    if (part) parts.push_back(rules_.define(*part));
  }
  if (parts.empty()) return std::nullopt;
  return any_of(parts);
}

Result<Expression> SchemaWriter::write_listed(const Conjunction& all,
                                              const std::vector<json::Value>& values,
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

Result<Expression> SchemaWriter::write_number(const Conjunction& all, bool integer) {
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
    auto out = multiple_expression(bounds, static_cast<std::int64_t>(divisor), rules_);
    if (!out) return unsupported_keyword("multipleOf", where, out.error().message);
    return out;
  }
  auto out = integer || divisor == 1 ? integer_expression(bounds) : number_expression(bounds);
  if (!out)
    return fail(ErrorCode::unsupported, "The schema's number at {} has a bound that {}.", where,
                out.error().message);
  return out;
}

Result<Expression> SchemaWriter::write_string(const Conjunction& all, const std::string& where) {
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
    return weft::format(R"("\"" {} "\"")", rules_.define(pattern->expression));
  }
  if (least == 0 && !most) return "string";
  const std::string characters = times("char", least, most);
  return weft::format(R"("\"" {} "\"")", characters);
}

Result<Expression> SchemaWriter::write_array(const Conjunction& all) {
  WEFT_ASSIGN(const std::uint64_t least, largest(all, "minItems"));
  WEFT_ASSIGN(std::optional<std::uint64_t> most, smallest(all, "maxItems"));
  // [place] of the first items, and what holds for all behind them.
  std::vector<std::vector<Place>> first;
  std::vector<Place> rest;
  bool says_rest = false, says_first = false;
  struct Own {
    std::vector<Place> first;
    std::optional<Place> rest;
  };
  std::vector<Own> owns;
  for (const Keywords& one : all.all) {
    Own own;
    const json::Value* items = one.find("items");
    const json::Value* prefix = one.find("prefixItems");
    std::string prefix_key = "prefixItems", rest_key = "items";
    if (items != nullptr && items->kind() == json::Kind::array) {  // As drafts before 2020 have it.
      prefix = items;
      prefix_key = "items";
      rest_key = "additionalItems";
      items = one.find("additionalItems");
    }
    if (prefix != nullptr) {
      if (prefix->kind() != json::Kind::array)
        return wrong_keyword(prefix_key, one.pointer, "is not an array");
      WEFT_ASSIGN(const auto list, prefix->array());
      for (std::size_t i = 0; i < list.size(); ++i)
        own.first.push_back({list[i], weft::format("{}/{}/{}", one.pointer, prefix_key, i)});
      says_first = true;
    }
    if (items != nullptr) {
      own.rest = Place{*items, one.pointer + "/" + rest_key};
      says_rest = true;
    }
    owns.push_back(std::move(own));
    if (const json::Value* const unique = one.find("uniqueItems");
        unique != nullptr && unique->text() != "false" && (!most || *most > 1))
      return unsupported_keyword("uniqueItems", one.pointer);
  }
  for (const Own& own : owns) first.resize(std::max(first.size(), own.first.size()));
  for (const Own& own : owns) {
    for (std::size_t i = 0; i < first.size(); ++i) {
      if (i < own.first.size()) {
        first[i].push_back(own.first[i]);
      } else if (own.rest) {
        first[i].push_back(*own.rest);
      }
    }
    if (own.rest) rest.push_back(*own.rest);
  }
  // Behind a tuple comes nothing that it does not speak of.
  if (says_first && !says_rest && least <= first.size())
    most = std::min<std::uint64_t>(most.value_or(first.size()), first.size());
  if (most && *most < least) return std::nullopt;

  std::vector<std::string> items;
  for (std::size_t i = 0; i < first.size() && (!most || i < *most); ++i) {
    WEFT_ASSIGN(Expression item, write(first[i]));
    if (!item) {
      most = i;
      break;
    }
    items.push_back(std::move(*item));
  }
  std::string behind;
  if (!most || *most > items.size()) {
    WEFT_ASSIGN(const Expression item, write(rest));
    if (item) {
      const std::uint64_t needed = least > items.size() ? least - items.size() : 0;
      const auto left = most ? std::optional(*most - items.size()) : std::nullopt;
      if (items.empty()) {
        const std::string more = times("(\", \" " + *item + ")", needed > 0 ? needed - 1 : 0,
                                       left ? std::optional(*left - 1) : std::nullopt);
        behind = *item + " " + more;
        if (needed == 0) behind = "(" + behind + ")?";
      } else {
        behind = times("(\", \" " + *item + ")", needed, left);
      }
    } else {
      most = items.size();
    }
  }
  if (most && *most < least) return std::nullopt;
  // From the last to the first; what is not needed may be missing with all that follows.
  std::string body = behind;
  for (std::size_t i = items.size(); i-- > 0;) {
    std::string rest = i > 0 ? "\", \" " : "";
    rest.append(items[i]);
    if (!body.empty()) rest.append(" ").append(body);
    if (i >= least) rest.insert(0, "(").append(")?");
    body = items.size() > 8 ? rules_.define(rest) : std::move(rest);  // Parentheses have a bound.
  }
  return R"("[" )" + (body.empty() ? "" : body + " ") + R"("]")";
}

}  // namespace weft::schema
