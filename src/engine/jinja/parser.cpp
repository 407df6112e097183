#include "engine/jinja/parser.h"

#include <algorithm>
#include <initializer_list>

#include "engine/jinja/expression_parser.h"

namespace weft::jinja {
namespace {

class Parser : ExpressionParser {
 public:
  Parser(std::vector<Lexeme> lexemes, Ast& ast) : ExpressionParser(std::move(lexemes), ast) {}

  Result<> parse_all() {
    WEFT_ASSIGN(ast_.root, parse_block({}));
    return {};
  }

 private:
  using EndNames = std::initializer_list<std::string_view>;

  template <class Node>
  const Statement* make_statement(std::uint32_t line, Node node) {
    ast_.statements.push_back({.line = line, .node = std::move(node)});
    return &ast_.statements.back();
  }

  // Reads statements up to one of the names that end the block. The name stays the current lexeme.
  Result<Block> parse_block(EndNames end_names) {
    const Depth depth(depth_);
    WEFT_OK(check_depth());
    Block block;
    while (true) {
      const std::uint32_t line = current().line;
      if (current().is(Lexeme::Kind::data)) {
        block.push_back(make_statement(line, TextNode{current().text}));
        advance();
      } else if (current().is(Lexeme::Kind::print_begin)) {
        advance();
        WEFT_ASSIGN(const ExpressionRef value, parse_tuple({}));
        block.push_back(make_statement(line, PrintNode{value}));
        WEFT_OK(expect(Lexeme::Kind::print_end, "'}}'"));
      } else if (current().is(Lexeme::Kind::block_begin)) {
        advance();
        if (!current().is(Lexeme::Kind::name)) return unexpected("the name of a statement");
        if (std::ranges::find(end_names, current().text) != end_names.end()) return block;
        WEFT_ASSIGN(const Statement* statement, parse_statement(line));
        block.push_back(statement);
        WEFT_OK(expect(Lexeme::Kind::block_end, "'%}'"));
      } else if (end_names.size() == 0) {
        return block;
      } else {
        return unexpected("'" + std::string(*(end_names.end() - 1)) + "'");
      }
    }
  }

  // Reads the body of a statement, from the end of its tag to `end_name`, and skips `end_name`.
  Result<Block> parse_body(std::string_view end_name) {
    WEFT_OK(expect(Lexeme::Kind::block_end, "'%}'"));
    WEFT_ASSIGN(Block block, parse_block({end_name}));
    advance();
    return block;
  }

  Result<const Statement*> parse_statement(std::uint32_t line) {
    const std::string name = current().text;
    advance();
    if (name == "if") return parse_if(line);
    if (name == "for") return parse_for(line);
    if (name == "set") return parse_set(line);
    if (name == "macro") return parse_macro(line);
    if (name == "call") return parse_call_block(line);
    if (name == "filter") return parse_filter_block(line);
    if (name == "with") return parse_with(line);
    if (name == "break") return make_statement(line, BreakNode{});
    if (name == "continue") return make_statement(line, ContinueNode{});
    if (name == "generation") {
      WEFT_ASSIGN(Block body, parse_body("endgeneration"));
      return make_statement(line, GroupNode{std::move(body)});
    }
    return error("the statement '{}' is not known", name);
  }

  Result<const Statement*> parse_if(std::uint32_t line) {
    IfNode node;
    while (true) {
      WEFT_ASSIGN(const ExpressionRef condition, parse_tuple({.conditional = false}));
      WEFT_OK(expect(Lexeme::Kind::block_end, "'%}'"));
      WEFT_ASSIGN(Block body, parse_block({"elif", "else", "endif"}));
      node.branches.emplace_back(condition, std::move(body));
      if (!skip_name("elif")) break;
    }
    if (skip_name("else")) {
      WEFT_ASSIGN(node.otherwise, parse_body("endif"));
    } else {
      advance();  // Skips the name endif.
    }
    return make_statement(line, std::move(node));
  }

  Result<const Statement*> parse_for(std::uint32_t line) {
    ForNode node;
    WEFT_ASSIGN(node.target, parse_target({.fields = false}));
    WEFT_OK(expect_name("in"));
    WEFT_ASSIGN(node.iterable, parse_tuple({.conditional = false, .stop_name = "recursive"}));
    if (skip_name("if")) {
      WEFT_ASSIGN(node.condition, parse_expression());
    }
    node.recursive = skip_name("recursive");
    WEFT_OK(expect(Lexeme::Kind::block_end, "'%}'"));
    WEFT_ASSIGN(node.body, parse_block({"else", "endfor"}));
    if (skip_name("else")) {
      WEFT_ASSIGN(node.otherwise, parse_body("endfor"));
    } else {
      advance();  // Skips the name endfor.
    }
    return make_statement(line, std::move(node));
  }

  struct TargetOptions {
    bool fields = true;  // A namespace's field may be assigned.
  };

  Result<Target> parse_target(TargetOptions options) {
    const Depth depth(depth_);
    WEFT_OK(check_depth());
    Target tuple;
    bool has_comma = false;
    while (true) {
      if (!tuple.parts.empty()) {
        if (!skip_symbol(",")) break;
        has_comma = true;
        if (!current().is(Lexeme::Kind::name) && !current().is_symbol("(")) break;
        if (current().is_name("in")) break;
      }
      WEFT_ASSIGN(Target part, parse_single_target(options));
      tuple.parts.push_back(std::move(part));
    }
    if (has_comma) return tuple;
    Target only = std::move(tuple.parts.front());
    return only;
  }

  Result<Target> parse_single_target(TargetOptions options) {
    if (skip_symbol("(")) {
      WEFT_ASSIGN(Target inner, parse_target(options));
      WEFT_OK(expect_symbol(")"));
      return inner;
    }
    Target target;
    WEFT_ASSIGN(target.name, expect_any_name());
    for (const std::string_view constant : {"true", "false", "none", "True", "False", "None"})
      if (target.name == constant) return error("'{}' cannot be assigned to", target.name);
    if (options.fields && skip_symbol(".")) {
      WEFT_ASSIGN(target.field, expect_any_name());
    }
    return target;
  }

  Result<const Statement*> parse_set(std::uint32_t line) {
    WEFT_ASSIGN(Target target, parse_target({}));
    if (skip_symbol("=")) {
      WEFT_ASSIGN(const ExpressionRef value, parse_tuple({}));
      return make_statement(line, SetNode{std::move(target), value});
    }
    SetBlockNode node{.target = std::move(target), .filter = nullptr, .body = {}};
    if (skip_symbol("|")) {
      WEFT_ASSIGN(node.filter, parse_filter_chain());
    }
    WEFT_ASSIGN(node.body, parse_body("endset"));
    return make_statement(line, std::move(node));
  }

  Result<std::vector<Parameter>> parse_parameters() {
    WEFT_OK(expect_symbol("("));
    std::vector<Parameter> parameters;
    while (!skip_symbol(")")) {
      if (!parameters.empty()) {
        WEFT_OK(expect_symbol(","));
        if (skip_symbol(")")) break;
      }
      Parameter parameter;
      WEFT_ASSIGN(parameter.name, expect_any_name());
      if (skip_symbol("=")) {
        WEFT_ASSIGN(parameter.otherwise, parse_expression());
      } else if (!parameters.empty() && parameters.back().otherwise != nullptr) {
        return error("the parameter '{}' without a value stands after one with a value",
                     parameter.name);
      }
      parameters.push_back(std::move(parameter));
    }
    return parameters;
  }

  Result<const Statement*> parse_macro(std::uint32_t line) {
    MacroStatement node;
    WEFT_ASSIGN(node.macro.name, expect_any_name());
    WEFT_ASSIGN(node.macro.parameters, parse_parameters());
    macros_.push_back(&node.macro);
    auto body = parse_body("endmacro");
    macros_.pop_back();
    if (!body) return pass(std::move(body));
    node.macro.body = std::move(*body);
    return make_statement(line, std::move(node));
  }

  Result<const Statement*> parse_call_block(std::uint32_t line) {
    CallBlockNode node;
    node.caller.name = "caller";
    if (current().is_symbol("(")) {
      WEFT_ASSIGN(node.caller.parameters, parse_parameters());
    }
    WEFT_ASSIGN(node.call, parse_expression());
    if (!std::holds_alternative<CallNode>(node.call->node)) return error("'call' needs a call");
    WEFT_ASSIGN(node.caller.body, parse_body("endcall"));
    return make_statement(line, std::move(node));
  }

  Result<const Statement*> parse_filter_block(std::uint32_t line) {
    FilterBlockNode node;
    WEFT_ASSIGN(node.filter, parse_filter_chain());
    WEFT_ASSIGN(node.body, parse_body("endfilter"));
    return make_statement(line, std::move(node));
  }

  Result<const Statement*> parse_with(std::uint32_t line) {
    WithNode node;
    while (!current().is(Lexeme::Kind::block_end)) {
      if (!node.values.empty()) WEFT_OK(expect_symbol(","));
      WEFT_ASSIGN(Target target, parse_target({.fields = false}));
      WEFT_OK(expect_symbol("="));
      WEFT_ASSIGN(const ExpressionRef value, parse_expression());
      node.values.emplace_back(std::move(target), value);
    }
    WEFT_ASSIGN(node.body, parse_body("endwith"));
    return make_statement(line, std::move(node));
  }
};

}  // namespace

Result<std::unique_ptr<const Ast>> parse(std::string_view source) {
  if (source.size() > source_bytes_max)
    return fail(ErrorCode::resource_exhausted, "The template has {} bytes; at most {} are read.",
                source.size(), source_bytes_max);
  WEFT_ASSIGN(std::vector<Lexeme> lexemes, lex(source));
  auto ast = std::make_unique<Ast>();
  WEFT_OK(Parser(std::move(lexemes), *ast).parse_all());
  return ast;
}

}  // namespace weft::jinja
