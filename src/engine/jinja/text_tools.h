// Python's functions on text, which count code points: lengths, slices, stripping, splitting,
// cases.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft::jinja {

[[nodiscard]] bool is_ascii(std::string_view text);
// Python's len(): the number of code points.
[[nodiscard]] std::size_t length_of(std::string_view text);
// Returns the byte offset of each code point, and the length of the text as the last element.
[[nodiscard]] std::vector<std::size_t> code_point_offsets(std::string_view text);

struct StripSides {
  bool left = true, right = true;
};
// Returns the text without spaces, or without any of `characters`, at the given sides.
[[nodiscard]] std::string_view strip(std::string_view text, StripSides sides,
                                     std::optional<std::string_view> characters);

// Python's split(): splits at runs of spaces, without empty parts, with at most `splits_max` cuts;
// a negative number allows any number of cuts.
[[nodiscard]] std::vector<std::string_view> split_spaces(std::string_view text,
                                                         long long splits_max);
[[nodiscard]] std::vector<std::string_view> split_spaces_from_right(std::string_view text,
                                                                    long long splits_max);
// Python's split(separator). The separator must not be empty.
[[nodiscard]] std::vector<std::string_view> split_at(std::string_view text,
                                                     std::string_view separator,
                                                     long long splits_max);
[[nodiscard]] std::vector<std::string_view> split_at_from_right(std::string_view text,
                                                                std::string_view separator,
                                                                long long splits_max);
// Works as Python's str.splitlines().
[[nodiscard]] std::vector<std::string_view> split_lines(std::string_view text, bool keep_ends);

[[nodiscard]] std::string to_lower(std::string_view text);
[[nodiscard]] std::string to_upper(std::string_view text);
[[nodiscard]] std::string to_title(std::string_view text);  // Works as Python's str.title().
// Works as Python's str.capitalize().
[[nodiscard]] std::string to_capitalized(std::string_view text);
[[nodiscard]] std::string to_swapped_case(std::string_view text);

// Replaces & < > ' " by HTML entities.
[[nodiscard]] std::string escape_html(std::string_view text);
// Replaces the first `count_max` occurrences, or all if `count_max` is negative.
[[nodiscard]] std::string replace_all(std::string_view text, std::string_view from,
                                      std::string_view to, long long count_max);
// Returns the number of bytes that replace_all() would return.
[[nodiscard]] std::uint64_t replaced_bytes(std::string_view text, std::string_view from,
                                           std::string_view to, long long count_max);

}  // namespace weft::jinja
