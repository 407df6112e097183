// Grammars as text, in llama.cpp's GBNF (its grammars/README.md is the source of the format):
//
//   root  ::= "{" ws "\"name\":" ws string "}"      the text that is allowed, from its first byte
//   ws    ::= [ \t\n]{0,20}                          to its last
//   string ::= "\"" [^"\\\n]* "\""                   # until the end of the line
//
// Literals and classes have \n \t \r \\ \" \[ \] \- \^ \xNN \uNNNN \UNNNNNNNN (code points); `.` is
// any character; ( ) | * + ? {m} {m,} {,n} {m,n}. A rule goes on to the end of its line, further
// inside parentheses, behind `::=` and around `|`.
#pragma once

#include <string_view>

#include "common/base/result.h"
#include "engine/grammar/grammar.h"

namespace weft::grammar {

inline constexpr std::size_t gbnf_bytes_max = std::size_t{1} << 20;

// invalid_argument with the line and the column, or with the rule, of what is wrong;
// resource_exhausted if it is too large.
[[nodiscard]] Result<Grammar> parse_gbnf(std::string_view text);

}  // namespace weft::grammar
