// Translates regular expressions of JSON schemas (JavaScript's, with the flag u) to grammar
// expressions for the content of a JSON string.
//
// Supported: characters, `.`, classes with ranges and \d \w \s and their opposites, \n \r \t \f \v
// \0 \xNN \uNNNN \u{N}, groups, |, * + ? {m} {m,} {m,n} (lazy operators mean the same as greedy
// ones), ^ at the beginning and $ at the end of an alternative. Refused by name: back references,
// lookahead and lookbehind, \b \B \p, and flags.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace weft::schema {

struct Pattern {
  std::string expression;             // Matches the text between the quotation marks.
  std::uint64_t least = 0;            // Least number of characters of a text.
  std::optional<std::uint64_t> most;  // The greatest number of characters; nullopt: no limit.
};

// Fails with unsupported and the name of the construct if it is not supported, and with
// invalid_argument if the text is not a regular expression. Messages continue a sentence that
// begins "the pattern '...' at ...".
[[nodiscard]] Result<Pattern> read_pattern(std::string_view text);

}  // namespace weft::schema
