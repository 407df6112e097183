// A position in the lexemes of a template, with the nesting depth of the parser. Parsers derive
// from it.
//
// Errors: invalid_argument with the template's line. Threading: one thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/format.h"
#include "common/base/result.h"
#include "engine/jinja/lexer.h"

namespace weft::jinja {

class Cursor {
 protected:
  // The last of `lexemes` must have the kind `end`.
  explicit Cursor(std::vector<Lexeme> lexemes) : lexemes_(std::move(lexemes)) {}

  [[nodiscard]] const Lexeme& current() const { return lexemes_[at_]; }
  [[nodiscard]] const Lexeme& ahead() const {
    return lexemes_[std::min(at_ + 1, lexemes_.size() - 1)];
  }
  void advance() {
    if (!current().is(Lexeme::Kind::end)) ++at_;
  }
  // Skips the current lexeme and returns true if it is the given one.
  bool skip_symbol(std::string_view symbol);
  bool skip_name(std::string_view name);
  // Skips the current lexeme if it is the given one. Fails otherwise.
  Result<> expect_symbol(std::string_view symbol);
  Result<> expect_name(std::string_view name);
  Result<std::string> expect_any_name();
  Result<std::string> expect_dotted_name();  // Reads a name such as a or a.b.c.
  Result<> expect(Lexeme::Kind kind, std::string_view what);

  template <class... Args>
  [[nodiscard]] std::unexpected<Error> error(FormatString<Args...> format, Args&&... args) const {
    return fail(ErrorCode::invalid_argument, "The template's line {}: {}.", current().line,
                weft::format(format, std::forward<Args>(args)...));
  }
  [[nodiscard]] std::unexpected<Error> unexpected(std::string_view wanted) const;

  // Counts one level of the parser's nesting depth while this object lives. Call check_depth()
  // after making one.
  struct Depth {
    explicit Depth(int& counter) : count(counter) { ++count; }
    Depth(const Depth&) = delete;
    ~Depth() { --count; }
    int& count;
  };
  [[nodiscard]] Result<> check_depth() const;
  int depth_ = 0;

 private:
  std::vector<Lexeme> lexemes_;
  std::size_t at_ = 0;
};

}  // namespace weft::jinja
