// Converts values to text: str() and repr() of Python, and JSON as json.dumps() writes it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "engine/jinja/value.h"

namespace weft::jinja {

void append_str(std::string& out, const Value& value);
void append_repr(std::string& out, const Value& value);
[[nodiscard]] std::string to_str(const Value& value);
[[nodiscard]] std::string to_repr(const Value& value);

[[nodiscard]] std::string integer_text(Integer value, int base = 10);
// Returns the shortest text that is read as this number again: 1.0, 1e+16, nan.
[[nodiscard]] std::string floating_text(double value);

struct JsonStyle {
  bool ensure_ascii = false;
  std::optional<std::string> indent;  // Text of one level; nullopt: all on one line.
  std::string item_separator = ", ";
  std::string key_separator = ": ";
  bool sort_keys = false;
};
// Fails for values that JSON cannot express.
[[nodiscard]] Result<> append_json(std::string& out, const Value& value, const JsonStyle& style);

}  // namespace weft::jinja
