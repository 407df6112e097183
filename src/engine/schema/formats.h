// The values of "format" that hold strings to a pattern. Patterns stay within the formats: not
// every date that exists is written, and no date that does not exist.
#pragma once

#include <optional>
#include <string_view>

namespace weft::schema {

// A regular expression as pattern.h reads it; nullopt for a format that is not known.
[[nodiscard]] std::optional<std::string_view> format_pattern(std::string_view format);
// Formats of numbers in OpenAPI documents, which say nothing about the text.
[[nodiscard]] bool is_number_format(std::string_view format);

}  // namespace weft::schema
