// Writes JSON as Python's json.dumps() does.
#include <algorithm>
#include <cmath>

#include "common/base/utf8.h"
#include "engine/jinja/print.h"

namespace weft::jinja {
namespace {

void append_escape(std::string& out, char32_t unit) {
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4)
    out.push_back("0123456789abcdef"[(unit >> shift) & 0xF]);
}

void append_json_string(std::string& out, std::string_view text, bool ensure_ascii) {
  out.push_back('"');
  for (std::size_t at = 0; at < text.size();) {
    const utf8::Decoded decoded = utf8::decode(text, at);
    const char32_t code = decoded.code;
    switch (code) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\b':
        out += "\\b";
        break;
      case '\f':
        out += "\\f";
        break;
      default:
        if (code >= 0x20 && (code < 0x7F || !ensure_ascii)) {
          out += text.substr(at, decoded.bytes);
        } else if (code < 0x10000) {
          append_escape(out, code);
        } else {
          append_escape(out, 0xD800 + ((code - 0x10000) >> 10));
          append_escape(out, 0xDC00 + ((code - 0x10000) & 0x3FF));
        }
    }
    at += decoded.bytes;
  }
  out.push_back('"');
}

// Appends a number or a word such as true. Returns false for any other value.
bool append_scalar(std::string& out, const Value& value) {
  switch (value.kind()) {
    case Kind::none:
      out += "null";
      return true;
    case Kind::boolean:
      out += value.as_boolean() ? "true" : "false";
      return true;
    case Kind::integer:
      out += integer_text(value.as_integer());
      return true;
    case Kind::floating: {
      const double number = value.as_floating();
      out += std::isnan(number)   ? "NaN"
             : std::isinf(number) ? (number < 0 ? "-Infinity" : "Infinity")
                                  : floating_text(number);
      return true;
    }
    default:
      return false;
  }
}

class JsonWriter {
 public:
  JsonWriter(std::string& out, const JsonStyle& style) : out_(out), style_(style) {}

  Result<> write(const Value& value, int level) {
    if (append_scalar(out_, value)) return {};
    switch (value.kind()) {
      case Kind::string:
        append_json_string(out_, value.as_text(), style_.ensure_ascii);
        return {};
      case Kind::list:
      case Kind::tuple:
        return write_list(value.items(), level);
      case Kind::dict:
        return write_dict(value.as_dict(), level);
      default:
        return fail(ErrorCode::invalid_argument, "Object of type {} is not JSON serializable",
                    type_name(value));
    }
  }

 private:
  void new_line(int level) {
    if (!style_.indent) return;
    out_.push_back('\n');
    for (int i = 0; i < level; ++i) out_ += *style_.indent;
  }

  Result<> write_list(std::span<const Value> items, int level) {
    if (items.empty()) {
      out_ += "[]";
      return {};
    }
    out_.push_back('[');
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (i > 0) out_ += style_.item_separator;
      new_line(level + 1);
      WEFT_OK(write(items[i], level + 1));
    }
    new_line(level);
    out_.push_back(']');
    return {};
  }

  Result<> write_dict(const Dict& dict, int level) {
    if (dict.items.empty()) {
      out_ += "{}";
      return {};
    }
    std::vector<const std::pair<Value, Value>*> items;
    for (const auto& item : dict.items) items.push_back(&item);
    if (style_.sort_keys) {
      for (const auto* item : items)
        if (item->first.kind() != items[0]->first.kind())
          return fail(ErrorCode::invalid_argument, "keys of several types cannot be sorted");
      std::ranges::stable_sort(items, [](const auto* a, const auto* b) {
        return is_less(a->first, b->first).value_or(false);
      });
    }
    out_.push_back('{');
    bool first = true;
    for (const auto* item : items) {
      if (!first) out_ += style_.item_separator;
      first = false;
      new_line(level + 1);
      std::string key;
      if (item->first.is(Kind::string)) {
        key = item->first.as_text();
      } else if (!append_scalar(key, item->first)) {
        return fail(ErrorCode::invalid_argument,
                    "keys must be str, int, float, bool or None, not {}", type_name(item->first));
      }
      append_json_string(out_, key, style_.ensure_ascii);
      out_ += style_.key_separator;
      WEFT_OK(write(item->second, level + 1));
    }
    new_line(level);
    out_.push_back('}');
    return {};
  }

  std::string& out_;
  const JsonStyle& style_;
};

}  // namespace

Result<> append_json(std::string& out, const Value& value, const JsonStyle& style) {
  return JsonWriter(out, style).write(value, 0);
}

}  // namespace weft::jinja
