// Splits a template's source into lexemes, with the whitespace rules of chat templates: a newline
// after a block is removed (trim_blocks), spaces before a block at the start of a line are removed
// (lstrip_blocks), and one newline at the end of the source is removed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "engine/jinja/value.h"

namespace weft::jinja {

struct Lexeme {
  enum class Kind : std::uint8_t {
    data,
    print_begin,
    print_end,
    block_begin,
    block_end,
    name,
    string,
    integer,
    floating,
    symbol,
    end
  };

  Kind kind = Kind::end;
  std::uint32_t line = 1;
  std::string text;  // Text of data, name or symbol; content of a string.
  Integer integer = 0;
  double floating = 0;

  [[nodiscard]] bool is(Kind which) const { return kind == which; }
  [[nodiscard]] bool is_symbol(std::string_view which) const {
    return kind == Kind::symbol && text == which;
  }
  [[nodiscard]] bool is_name(std::string_view which) const {
    return kind == Kind::name && text == which;
  }
};

// Returns the lexemes, of which the last has the kind `end`. Fails with invalid_argument and the
// line.
[[nodiscard]] Result<std::vector<Lexeme>> lex(std::string_view source);

}  // namespace weft::jinja
