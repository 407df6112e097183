// Reads grammars as text in llama.cpp's GBNF (the format is defined by its grammars/README.md):
//
//   root  ::= "{" ws "\"name\":" ws string "}"      the text that is allowed, from its first byte
//   ws    ::= [ \t\n]{0,20}                          to its last
//   string ::= "\"" [^"\\\n]* "\""                   # until the end of the line
//
// Literals and classes have the escapes \n \t \r \\ \" \[ \] \- \^ \xNN \uNNNN \UNNNNNNNN (code
// points); `.` is any character; operators are ( ) | * + ? {m} {m,} {,n} {m,n}. A rule ends at the
// end of its line, but continues inside parentheses, after `::=` and around `|`.
#pragma once

#include <string_view>

#include "common/base/result.h"
#include "engine/grammar/grammar.h"

namespace weft::grammar {

inline constexpr std::size_t gbnf_bytes_max = std::size_t{1} << 20;

// Fails with invalid_argument if the text is wrong; the message names the line and column, or the
// rule. Fails with resource_exhausted if the grammar is too large.
[[nodiscard]] Result<Grammar> parse_gbnf(std::string_view text);

}  // namespace weft::grammar
