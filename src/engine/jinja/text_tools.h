// Python's ways with text, by code points: lengths, slices, stripping, splitting, cases.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft::jinja {

[[nodiscard]] bool is_ascii(std::string_view text);
// len()
[[nodiscard]] std::size_t length_of(std::string_view text);
// Where each code point begins, and the end.
[[nodiscard]] std::vector<std::size_t> code_point_offsets(std::string_view text);

struct StripSides {
  bool left = true, right = true;
};
// Without spaces at the sides, or without any of `characters`.
[[nodiscard]] std::string_view strip(std::string_view text, StripSides sides,
                                     std::optional<std::string_view> characters);

// split(): at runs of spaces, without empty parts; at most `splits_max` cuts (all where negative).
[[nodiscard]] std::vector<std::string_view> split_spaces(std::string_view text,
                                                         long long splits_max);
[[nodiscard]] std::vector<std::string_view> split_spaces_from_right(std::string_view text,
                                                                    long long splits_max);
// split(separator); the separator is not empty.
[[nodiscard]] std::vector<std::string_view> split_at(std::string_view text,
                                                     std::string_view separator,
                                                     long long splits_max);
[[nodiscard]] std::vector<std::string_view> split_at_from_right(std::string_view text,
                                                                std::string_view separator,
                                                                long long splits_max);
// splitlines()
[[nodiscard]] std::vector<std::string_view> split_lines(std::string_view text, bool keep_ends);

[[nodiscard]] std::string to_lower(std::string_view text);
[[nodiscard]] std::string to_upper(std::string_view text);
[[nodiscard]] std::string to_title(std::string_view text);        // str.title()
[[nodiscard]] std::string to_capitalized(std::string_view text);  // str.capitalize()
[[nodiscard]] std::string to_swapped_case(std::string_view text);

// With & < > ' " as HTML entities.
[[nodiscard]] std::string escape_html(std::string_view text);
// All occurrences, or the first `count_max` where not negative.
[[nodiscard]] std::string replace_all(std::string_view text, std::string_view from,
                                      std::string_view to, long long count_max);
// How many bytes replace_all() would give.
[[nodiscard]] std::uint64_t replaced_bytes(std::string_view text, std::string_view from,
                                           std::string_view to, long long count_max);

}  // namespace weft::jinja
