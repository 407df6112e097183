#include "engine/jinja/cursor.h"

#include "engine/jinja/parser.h"

namespace weft::jinja {
namespace {

std::string describe(const Lexeme& lexeme) {
  switch (lexeme.kind) {
    case Lexeme::Kind::data:
      return "text";
    case Lexeme::Kind::print_begin:
      return "'{{'";
    case Lexeme::Kind::print_end:
      return "'}}'";
    case Lexeme::Kind::block_begin:
      return "'{%'";
    case Lexeme::Kind::block_end:
      return "'%}'";
    case Lexeme::Kind::string:
      return "a string";
    case Lexeme::Kind::integer:
    case Lexeme::Kind::floating:
      return "a number";
    case Lexeme::Kind::name:
    case Lexeme::Kind::symbol:
      return "'" + lexeme.text + "'";
    case Lexeme::Kind::end:
      return "the end of the template";
  }
  return "something else";
}

}  // namespace

std::unexpected<Error> Cursor::unexpected(std::string_view wanted) const {
  return error("{} is expected, not {}", wanted, describe(current()));
}

Result<> Cursor::check_depth() const {
  if (depth_ > parse_depth_max) return error("it nests deeper than {} levels", parse_depth_max);
  return {};
}

bool Cursor::skip_symbol(std::string_view symbol) {
  if (!current().is_symbol(symbol)) return false;
  advance();
  return true;
}
bool Cursor::skip_name(std::string_view name) {
  if (!current().is_name(name)) return false;
  advance();
  return true;
}
Result<> Cursor::expect_symbol(std::string_view symbol) {
  if (!skip_symbol(symbol)) return unexpected("'" + std::string(symbol) + "'");
  return {};
}
Result<> Cursor::expect_name(std::string_view name) {
  if (!skip_name(name)) return unexpected("'" + std::string(name) + "'");
  return {};
}
Result<std::string> Cursor::expect_any_name() {
  if (!current().is(Lexeme::Kind::name)) return unexpected("a name");
  std::string name = current().text;
  advance();
  return name;
}
Result<> Cursor::expect(Lexeme::Kind kind, std::string_view what) {
  if (!current().is(kind)) return unexpected(what);
  advance();
  return {};
}

Result<std::string> Cursor::expect_dotted_name() {
  WEFT_ASSIGN(std::string name, expect_any_name());
  while (skip_symbol(".")) {
    WEFT_ASSIGN(const std::string part, expect_any_name());
    name += "." + part;
  }
  return name;
}

}  // namespace weft::jinja
