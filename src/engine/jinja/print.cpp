#include "engine/jinja/print.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "common/base/utf8.h"
#include "engine/jinja/callable.h"
#include "engine/unicode/character.h"

namespace weft::jinja {
namespace {

void append_hex(std::string& out, std::string_view prefix, char32_t code, int digits) {
  out += prefix;
  for (int shift = (digits - 1) * 4; shift >= 0; shift -= 4)
    out.push_back("0123456789abcdef"[(code >> shift) & 0xF]);
}

void append_quoted(std::string& out, std::string_view text) {
  const char quote =
      text.find('\'') != std::string_view::npos && text.find('"') == std::string_view::npos ? '"'
                                                                                            : '\'';
  out.push_back(quote);
  for (std::size_t at = 0; at < text.size();) {
    const utf8::Decoded decoded = utf8::decode(text, at);
    const char32_t code = decoded.code;
    if (code == static_cast<char32_t>(quote) || code == '\\') {
      out.push_back('\\');
      out.push_back(static_cast<char>(code));
    } else if (code == '\n') {
      out += "\\n";
    } else if (code == '\r') {
      out += "\\r";
    } else if (code == '\t') {
      out += "\\t";
    } else if (unicode::is(code, unicode::Class::printable)) {
      out += text.substr(at, decoded.bytes);
    } else if (code < 0x100) {
      append_hex(out, "\\x", code, 2);
    } else if (code < 0x10000) {
      append_hex(out, "\\u", code, 4);
    } else {
      append_hex(out, "\\U", code, 8);
    }
    at += decoded.bytes;
  }
  out.push_back(quote);
}

void append_items(std::string& out, std::span<const Value> items) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out += ", ";
    append_repr(out, items[i]);
  }
}

void append_sequence(std::string& out, const Value& value) {
  const auto items = value.items();
  switch (static_cast<const Sequence*>(value.object())->form) {
    case Sequence::Form::keys:
      out += "dict_keys([";
      break;
    case Sequence::Form::values:
      out += "dict_values([";
      break;
    case Sequence::Form::pairs:
      out += "dict_items([";
      break;
    default:
      out.push_back(value.is(Kind::tuple) ? '(' : '[');
  }
  append_items(out, items);
  if (value.is(Kind::tuple)) {
    out += items.size() == 1 ? ",)" : ")";
  } else {
    out += value.is(Kind::view) ? "])" : "]";
  }
}

}  // namespace

std::string integer_text(Integer value, int base) {
  // The digits are computed from the last to the first and, for a negative value, from negative
  // remainders, because the smallest integer has no positive counterpart.
  std::string digits;
  const bool negative = value < 0;
  do {
    const int digit = static_cast<int>(value % base);
    digits.push_back("0123456789abcdef"[digit < 0 ? -digit : digit]);
    value /= base;
  } while (value != 0);
  if (negative) digits.push_back('-');
  std::ranges::reverse(digits);
  return digits;
}

std::string floating_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char buffer[64];
  // Python writes an exponent if it is below -4 or at least 16.
  const double magnitude = std::fabs(value);
  const bool scientific = magnitude != 0 && (magnitude < 1e-4 || magnitude >= 1e16);
  const auto end =
      std::to_chars(buffer, buffer + sizeof buffer, value,
                    scientific ? std::chars_format::scientific : std::chars_format::fixed)
          .ptr;
  std::string text(buffer, end);
  if (!scientific && text.find('.') == std::string::npos) text += ".0";
  return text;
}

void append_repr(std::string& out, const Value& value) {
  switch (value.kind()) {
    case Kind::undefined:
      out += "Undefined";
      return;
    case Kind::none:
      out += "None";
      return;
    case Kind::boolean:
      out += value.as_boolean() ? "True" : "False";
      return;
    case Kind::integer:
      out += integer_text(value.as_integer());
      return;
    case Kind::floating:
      out += floating_text(value.as_floating());
      return;
    case Kind::string:
      if (value.is_markup()) out += "Markup(";
      append_quoted(out, value.as_text());
      if (value.is_markup()) out.push_back(')');
      return;
    case Kind::list:
    case Kind::tuple:
    case Kind::view:
      append_sequence(out, value);
      return;
    case Kind::dict: {
      out.push_back('{');
      bool first = true;
      for (const auto& [key, item] : value.as_dict().items) {
        if (!first) out += ", ";
        first = false;
        append_repr(out, key);
        out += ": ";
        append_repr(out, item);
      }
      out.push_back('}');
      return;
    }
    case Kind::iterator:
      out += "<generator object>";
      return;
    case Kind::name_space:
      out += "<Namespace>";
      return;
    case Kind::callable:
      out += "<function>";
      return;
  }
}

void append_str(std::string& out, const Value& value) {
  if (value.is(Kind::string)) {
    out += value.as_text();
  } else if (!value.is(Kind::undefined)) {
    append_repr(out, value);
  }
}

std::string to_str(const Value& value) {
  std::string out;
  append_str(out, value);
  return out;
}
std::string to_repr(const Value& value) {
  std::string out;
  append_repr(out, value);
  return out;
}

}  // namespace weft::jinja
