// The part of the parser that reads expressions; parser.cpp builds statements on it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/format.h"
#include "common/base/result.h"
#include "engine/jinja/ast.h"
#include "engine/jinja/lexer.h"
#include "engine/jinja/parser.h"

namespace weft::jinja {

class ExpressionParser {
 public:
  ExpressionParser(std::vector<Lexeme> lexemes, Ast& ast)
      : ast_(ast), lexemes_(std::move(lexemes)) {}

 protected:
  struct TupleOptions {
    bool conditional = true;          // a if b else c may stand in it.
    bool parenthesized = false;       // () is the empty tuple.
    std::string_view stop_name = "";  // A name that ends it.
  };

  Result<ExpressionRef> parse_tuple(TupleOptions options);
  Result<ExpressionRef> parse_expression();  // With a condition.
  Result<ExpressionRef> parse_or();
  Result<ExpressionRef> parse_primary();
  Result<ExpressionRef> parse_postfix(ExpressionRef value);
  // A chain of filters without the first bar: `upper|trim`. The first one's input is null.
  Result<ExpressionRef> parse_filter_chain();
  Result<ExpressionRef> parse_unary(bool with_filters);

  // The lexemes.
  [[nodiscard]] const Lexeme& current() const { return lexemes_[at_]; }
  [[nodiscard]] const Lexeme& ahead() const {
    return lexemes_[std::min(at_ + 1, lexemes_.size() - 1)];
  }
  void advance() {
    if (!current().is(Lexeme::Kind::end)) ++at_;
  }
  bool skip_symbol(std::string_view symbol);
  bool skip_name(std::string_view name);
  Result<> expect_symbol(std::string_view symbol);
  Result<> expect_name(std::string_view name);
  Result<std::string> expect_any_name();
  Result<> expect(Lexeme::Kind kind, std::string_view what);

  template <class Node>
  ExpressionRef make(Node node) {
    ast_.expressions.push_back({.line = current().line, .node = std::move(node)});
    return &ast_.expressions.back();
  }
  template <class... Args>
  [[nodiscard]] std::unexpected<Error> error(FormatString<Args...> format, Args&&... args) const {
    return fail(ErrorCode::invalid_argument, "The template's line {}: {}.", current().line,
                weft::format(format, std::forward<Args>(args)...));
  }
  [[nodiscard]] std::unexpected<Error> unexpected(std::string_view wanted) const;
  [[nodiscard]] static std::string describe(const Lexeme& lexeme);

  // Counts how deep the parser is; check it where something nests.
  struct Depth {
    explicit Depth(int& counter) : count(counter) { ++count; }
    Depth(const Depth&) = delete;
    ~Depth() { --count; }
    int& count;
  };
  [[nodiscard]] Result<> check_depth() const;

  Ast& ast_;
  int depth_ = 0;
  std::vector<MacroNode*> macros_;  // Those being read, the innermost last.

 private:
  Result<ExpressionRef> parse_and();
  Result<ExpressionRef> parse_not();
  Result<ExpressionRef> parse_compare();
  Result<ExpressionRef> parse_sum();
  Result<ExpressionRef> parse_concat();
  Result<ExpressionRef> parse_product();
  Result<ExpressionRef> parse_power();
  Result<ExpressionRef> parse_filters_and_tests(ExpressionRef value);
  Result<std::string> parse_dotted_name();  // The name of a filter or a test.
  Result<ExpressionRef> parse_filter(ExpressionRef input);
  Result<ExpressionRef> parse_test(ExpressionRef input);
  Result<ExpressionRef> parse_subscript(ExpressionRef object);
  Result<ExpressionRef> parse_call(ExpressionRef callee);
  Result<ArgumentNodes> parse_arguments();
  Result<ExpressionRef> parse_list();
  Result<ExpressionRef> parse_dict();
  Result<ExpressionRef> parse_name();
  [[nodiscard]] bool at_tuple_end(std::string_view stop_name) const;

  std::vector<Lexeme> lexemes_;
  std::size_t at_ = 0;
};

}  // namespace weft::jinja
