// The part of the parser that reads expressions, with one function for each level of precedence.
// parser.cpp derives the parser of statements from it.
//
// Errors: invalid_argument with the template's line. Threading: one thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "engine/jinja/ast.h"
#include "engine/jinja/cursor.h"
#include "engine/jinja/lexer.h"

namespace weft::jinja {

class ExpressionParser : protected Cursor {
 public:
  ExpressionParser(std::vector<Lexeme> lexemes, Ast& ast) : Cursor(std::move(lexemes)), ast_(ast) {}

 protected:
  struct TupleOptions {
    bool conditional = true;          // Elements may be `a if b else c`.
    bool parenthesized = false;       // If true, () is read as the empty tuple.
    std::string_view stop_name = "";  // A name at which the tuple ends.
  };

  Result<ExpressionRef> parse_tuple(TupleOptions options);
  Result<ExpressionRef> parse_expression();  // Reads an expression, including `a if b else c`.
  Result<ExpressionRef> parse_or();
  Result<ExpressionRef> parse_primary();
  Result<ExpressionRef> parse_postfix(ExpressionRef value);
  // Reads a chain of filters without the first bar: `upper|trim`. The input of the first filter is
  // null.
  Result<ExpressionRef> parse_filter_chain();
  Result<ExpressionRef> parse_unary(bool with_filters);

  template <class Node>
  ExpressionRef make(Node node) {
    ast_.expressions.push_back({.line = current().line, .node = std::move(node)});
    return &ast_.expressions.back();
  }
  Ast& ast_;
  std::vector<MacroNode*> macros_;  // The macros that are being parsed, the innermost last.

 private:
  Result<ExpressionRef> parse_and();
  Result<ExpressionRef> parse_not();
  Result<ExpressionRef> parse_compare();
  Result<ExpressionRef> parse_sum();
  Result<ExpressionRef> parse_concat();
  Result<ExpressionRef> parse_product();
  Result<ExpressionRef> parse_power();
  Result<ExpressionRef> parse_filters_and_tests(ExpressionRef value);
  Result<ExpressionRef> parse_filter(ExpressionRef input);
  Result<ExpressionRef> parse_test(ExpressionRef input);
  Result<ExpressionRef> parse_subscript(ExpressionRef object);
  Result<ExpressionRef> parse_call(ExpressionRef callee);
  Result<ArgumentNodes> parse_arguments();
  Result<ExpressionRef> parse_list();
  Result<ExpressionRef> parse_dict();
  Result<ExpressionRef> parse_name();
};

}  // namespace weft::jinja
