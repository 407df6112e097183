// Regular expressions of JSON schemas (JavaScript's, with the flag u) as expressions of a grammar
// for the inside of a JSON string.
//
// Known: characters, `.`, classes with ranges and \d \w \s and their opposites, \n \r \t \f \v \0
// \xNN \uNNNN \u{N}, groups, |, * + ? {m} {m,} {m,n} (lazy ones mean the same), ^ at the beginning
// and $ at the end of an alternative. Not known, and refused by name: back references, looking
// ahead and behind,
// \b \B \p, flags.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace weft::schema {

struct Pattern {
  std::string expression;             // Between the quotation marks.
  std::uint64_t least = 0;            // Characters that a text has.
  std::optional<std::uint64_t> most;  // Without: as many as it likes.
};

// unsupported with what is not known; invalid_argument if it is no regular expression. Messages
// go on behind "the pattern '...' at ...".
[[nodiscard]] Result<Pattern> read_pattern(std::string_view text);

}  // namespace weft::schema
