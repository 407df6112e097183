// Filters from text to text, and filters that convert values to text.
#include <algorithm>

#include "common/base/format.h"
#include "common/base/utf8.h"
#include "engine/jinja/interpreter.h"
#include "engine/jinja/print.h"
#include "engine/jinja/tables.h"
#include "engine/jinja/text_tools.h"
#include "engine/unicode/character.h"

namespace weft::jinja {
namespace {

// Converts any value to text, as text filters do first.
std::string text_of(const Value& value) { return to_str(value); }

template <std::string (*convert)(std::string_view)>
Result<Value> converted(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
  WEFT_OK(Given::bind(arguments, {}));
  const std::string text = text_of(input);
  WEFT_OK(interpreter.charge(text.size() * 2));
  return interpreter.heap().string(convert(text), input.is_markup());
}

// Makes title case by jinja2's own rule: a word begins after a space, a hyphen or an opening
// bracket.
std::string title_words(std::string_view text) {
  std::string out;
  bool begins = true;
  for (std::size_t at = 0; at < text.size();) {
    const auto decoded = utf8::decode(text, at);
    if (begins) {
      unicode::append_upper(out, decoded.code);
    } else {
      unicode::append_lower(out, decoded.code);
    }
    begins =
        unicode::is_python_space(decoded.code) ||
        (decoded.code < 0x80 &&
         std::string_view("-({[<").find(static_cast<char>(decoded.code)) != std::string_view::npos);
    at += decoded.bytes;
  }
  return out;
}

Result<Value> trim(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
  WEFT_ASSIGN(const Given given, Given::bind(arguments, {"chars"}));
  std::optional<std::string_view> characters;
  if (given.has(0) && !given[0]->is(Kind::none)) {
    WEFT_ASSIGN(characters, given.required_text(0));
  }
  const std::string text = text_of(input);
  WEFT_OK(interpreter.charge(text.size()));
  return interpreter.heap().string(std::string(strip(text, {}, characters)), input.is_markup());
}

Result<Value> string(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
  WEFT_OK(Given::bind(arguments, {}));
  if (input.is(Kind::string)) return input;
  return interpreter.text(text_of(input));
}

Result<Value> safe(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
  WEFT_OK(Given::bind(arguments, {}));
  return interpreter.heap().string(text_of(input), true);
}
Result<Value> escape(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
  WEFT_OK(Given::bind(arguments, {}));
  if (input.is_markup()) return input;
  const std::string text = text_of(input);
  WEFT_OK(interpreter.charge(text.size() * 5));
  return interpreter.heap().string(escape_html(text), true);
}
Result<Value> force_escape(Interpreter& interpreter, const Value& input,
                           const Arguments& arguments) {
  WEFT_OK(Given::bind(arguments, {}));
  const std::string text = text_of(input);
  WEFT_OK(interpreter.charge(text.size() * 5));
  return interpreter.heap().string(escape_html(text), true);
}

Result<Value> replace(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
  WEFT_ASSIGN(const Given given, Given::bind(arguments, {"old", "new", "count"}));
  WEFT_ASSIGN(const Value from, given.required(0));
  WEFT_ASSIGN(const Value to, given.required(1));
  Integer count = -1;
  if (given.has(2) && !given[2]->is(Kind::none)) {
    WEFT_ASSIGN(count, given.integer_or(2, -1));
  }
  const auto count_max = static_cast<long long>(std::clamp<Integer>(count, -1, Integer{1} << 40));
  const std::string text = text_of(input), old_text = text_of(from), new_text = text_of(to);
  WEFT_OK(interpreter.charge(replaced_bytes(text, old_text, new_text, count_max)));
  return interpreter.heap().string(replace_all(text, old_text, new_text, count_max),
                                   input.is_markup());
}

Result<Value> truncate(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
  WEFT_ASSIGN(const Given given, Given::bind(arguments, {"length", "killwords", "end", "leeway"}));
  WEFT_ASSIGN(const Integer length, given.integer_or(0, 255));
  WEFT_ASSIGN(const Integer leeway, given.integer_or(3, 5));
  const std::string end = given.has(2) ? text_of(*given[2]) : "...";
  const auto end_length = static_cast<Integer>(length_of(end));
  if (length < end_length)
    return fault("truncate's length ({}) is smaller than that of its end", integer_text(length));
  if (leeway < 0) return fault("truncate's leeway is negative");
  if (!input.is(Kind::string)) {  // A short sequence of any kind is not changed.
    WEFT_ASSIGN(const Value size, find_sequence_filter("length")(interpreter, input, {}));
    if (size.as_integer() <= length + leeway) return input;
    return fault("truncate takes a str, not a {}", type_name(input));
  }
  const std::string text = text_of(input);
  WEFT_OK(interpreter.charge(text.size()));
  const auto offsets = code_point_offsets(text);
  const auto size = static_cast<Integer>(offsets.size() - 1);
  if (size <= length + leeway) return interpreter.text(text);
  std::string_view kept =
      std::string_view(text).substr(0, offsets[static_cast<std::size_t>(length - end_length)]);
  if (!given.is_true_or(1, false)) {
    const std::size_t space = kept.rfind(' ');
    if (space != std::string_view::npos) kept = kept.substr(0, space);
  }
  return interpreter.text(std::string(kept) + end);
}

Result<Value> center(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
  WEFT_ASSIGN(const Given given, Given::bind(arguments, {"width"}));
  WEFT_ASSIGN(const Integer width, given.integer_or(0, 80));
  const Value text = interpreter.text(text_of(input));
  return find_string_method("center")->method(interpreter, text,
                                              {.positional = {Value::integer(width)}, .named = {}});
}

Result<Value> indent(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
  if (!input.is(Kind::string))
    return input.is(Kind::undefined) ? undefined_fault(input)
                                     : fault("indent takes a str, not a {}", type_name(input));
  WEFT_ASSIGN(const Given given, Given::bind(arguments, {"width", "first", "blank"}));
  std::string step = "    ";
  if (given.has(0) && given[0]->is(Kind::string)) {
    step = given[0]->as_text();
  } else {
    WEFT_ASSIGN(const Integer width, given.integer_or(0, 4));
    if (width > 10'000) return fault("an indentation is wider than 10000");
    step = std::string(static_cast<std::size_t>(std::max<Integer>(width, 0)), ' ');
  }
  const bool blank = given.is_true_or(2, false);
  const std::string text =
      // If the text ends with a newline, the added newline gives an empty last line.
      text_of(input) + "\n";
  const auto lines = split_lines(text, false);
  WEFT_OK(interpreter.charge(text.size() + lines.size() * step.size()));
  std::string out;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) out += "\n";
    if (i > 0 ? blank || !lines[i].empty() : given.is_true_or(1, false)) out += step;
    out += lines[i];
  }
  return interpreter.heap().string(std::move(out), input.is_markup());
}

Result<Value> wordcount(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
  WEFT_OK(Given::bind(arguments, {}));
  const std::string text = text_of(input);
  WEFT_OK(interpreter.charge(text.size()));
  Integer count = 0;
  bool inside = false;
  for (std::size_t at = 0; at < text.size();) {
    const auto decoded = utf8::decode(text, at);
    const bool word = decoded.code == '_' || unicode::is(decoded.code, unicode::Class::letter) ||
                      unicode::is(decoded.code, unicode::Class::number);
    count += word && !inside ? 1 : 0;
    inside = word;
    at += decoded.bytes;
  }
  return Value::integer(count);
}

Result<Value> format(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
  if (!arguments.positional.empty() && !arguments.named.empty())
    return fault("format takes values either by place or by name");
  Value values;
  if (arguments.named.empty()) {
    WEFT_ASSIGN(values, interpreter.heap().tuple(arguments.positional));
  } else {
    std::vector<std::pair<Value, Value>> items;
    for (const auto& [name, value] : arguments.named)
      items.emplace_back(interpreter.text(std::string(name)), value);
    WEFT_ASSIGN(values, interpreter.heap().dict(std::move(items)));
  }
  WEFT_ASSIGN(std::string text, format_percent(interpreter, text_of(input), values));
  return interpreter.text(std::move(text));
}

Result<Value> strip_tags(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
  WEFT_OK(Given::bind(arguments, {}));
  std::string text = text_of(input);
  WEFT_OK(interpreter.charge(text.size() * 2));
  const auto remove = [&](std::string_view begin, std::string_view end) {
    std::string out;
    std::size_t from = 0;
    for (std::size_t at = text.find(begin); at != std::string::npos; at = text.find(begin, from)) {
      const std::size_t stop = text.find(end, at + begin.size());
      if (stop == std::string::npos) break;
      out.append(text, from, at - from);
      from = stop + end.size();
    }
    text = out.append(text, from);
  };
  remove("<!--", "-->");
  remove("<", ">");
  std::string out;
  for (const std::string_view word : split_spaces(text, -1))
    out.append(out.empty() ? "" : " ").append(word);
  for (const auto& [entity, character] :
       {std::pair("&lt;", "<"), std::pair("&gt;", ">"), std::pair("&#39;", "'"),
        std::pair("&#34;", "\""), std::pair("&quot;", "\""), std::pair("&amp;", "&")})
    out = replace_all(out, entity, character, -1);
  return interpreter.text(std::move(out));
}

Result<Value> url_encode(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
  WEFT_OK(Given::bind(arguments, {}));
  const auto encoded = [](std::string_view text, std::string_view also_plain) {
    std::string out;
    for (const char c : text) {
      const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                         (c >= '0' && c <= '9') ||
                         std::string_view("_.-~").find(c) != std::string_view::npos ||
                         also_plain.find(c) != std::string_view::npos;
      if (plain) {
        out.push_back(c);
      } else {
        out += weft::format("%{:02X}", static_cast<std::uint8_t>(c));
      }
    }
    return out;
  };
  if (input.is(Kind::string) || !(input.is(Kind::dict) || input.is(Kind::list) ||
                                  input.is(Kind::tuple) || input.is(Kind::view))) {
    const std::string text = text_of(input);
    WEFT_OK(interpreter.charge(text.size() * 3));
    return interpreter.text(encoded(text, "/"));
  }
  std::vector<Value> pairs;
  if (input.is(Kind::dict)) {
    WEFT_ASSIGN(const Value view, find_method(input, "items")->method(interpreter, input, {}));
    pairs.assign(view.items().begin(), view.items().end());
  } else {
    WEFT_ASSIGN(pairs, interpreter.elements_of(input));
  }
  std::string out;
  for (const Value& pair : pairs) {
    WEFT_ASSIGN(const std::vector<Value> two, interpreter.elements_of(pair));
    if (two.size() != 2) return fault("urlencode takes pairs");
    out.append(out.empty() ? "" : "&")
        .append(encoded(text_of(two[0]), ""))
        .append("=")
        .append(encoded(text_of(two[1]), ""));
    WEFT_OK(interpreter.charge(out.size() / 16));
  }
  return interpreter.text(std::move(out));
}

Result<Value> to_json(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
  WEFT_ASSIGN(const Given given,
              Given::bind(arguments, {"ensure_ascii", "indent", "separators", "sort_keys"}));
  JsonStyle style;
  style.ensure_ascii = given.is_true_or(0, false);
  style.sort_keys = given.is_true_or(3, false);
  if (given.has(1) && !given[1]->is(Kind::none)) {
    if (given[1]->is(Kind::string)) {
      style.indent = std::string(given[1]->as_text());
    } else {
      WEFT_ASSIGN(const Integer width, given.integer_or(1, 0));
      if (width > 1000) return fault("an indentation is wider than 1000");
      style.indent = std::string(static_cast<std::size_t>(std::max<Integer>(width, 0)), ' ');
    }
    style.item_separator = ",";
  }
  if (given.has(2) && !given[2]->is(Kind::none)) {
    WEFT_ASSIGN(const std::vector<Value> two, interpreter.elements_of(*given[2]));
    if (two.size() != 2 || !two[0].is(Kind::string) || !two[1].is(Kind::string))
      return fault("tojson's separators are two texts");
    style.item_separator = two[0].as_text();
    style.key_separator = two[1].as_text();
  }
  std::string out;
  WEFT_OK(append_json(out, input, style));
  WEFT_OK(interpreter.charge(out.size()));
  return interpreter.text(std::move(out));
}

constexpr Row<Filter> rows[] = {{"upper", converted<to_upper>},
                                {"lower", converted<to_lower>},
                                {"title", converted<title_words>},
                                {"capitalize", converted<to_capitalized>},
                                {"trim", trim},
                                {"string", string},
                                {"safe", safe},
                                {"escape", escape},
                                {"e", escape},
                                {"forceescape", force_escape},
                                {"replace", replace},
                                {"truncate", truncate},
                                {"center", center},
                                {"indent", indent},
                                {"wordcount", wordcount},
                                {"format", format},
                                {"striptags", strip_tags},
                                {"urlencode", url_encode},
                                {"tojson", to_json}};

}  // namespace

Filter find_text_filter(std::string_view name) { return find_row(rows, name); }

}  // namespace weft::jinja
