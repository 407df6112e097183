// The values of "format" that restrict strings to a pattern. A pattern accepts only valid texts of
// its format, but not all of them: not every existing date, and no date that does not exist.
#pragma once

#include <optional>
#include <string_view>

namespace weft::schema {

// Returns a regular expression for pattern.h, or nullopt for an unknown format.
[[nodiscard]] std::optional<std::string_view> format_pattern(std::string_view format);
// True for formats of numbers in OpenAPI documents, which do not restrict the text.
[[nodiscard]] bool is_number_format(std::string_view format);

}  // namespace weft::schema
