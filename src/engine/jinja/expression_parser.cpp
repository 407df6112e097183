#include "engine/jinja/expression_parser.h"

#include <algorithm>

namespace weft::jinja {

Result<ExpressionRef> ExpressionParser::parse_tuple(TupleOptions options) {
  SequenceNode tuple{.items = {}, .is_tuple = true};
  const auto at_end = [&] {
    return current().is(Lexeme::Kind::print_end) || current().is(Lexeme::Kind::block_end) ||
           current().is_symbol(")") ||
           (!options.stop_name.empty() && current().is_name(options.stop_name));
  };
  bool has_comma = false;
  while (true) {
    if (!tuple.items.empty() && !skip_symbol(",")) break;
    has_comma = has_comma || !tuple.items.empty();
    if (at_end()) break;
    WEFT_ASSIGN(const ExpressionRef item, options.conditional ? parse_expression() : parse_or());
    tuple.items.push_back(item);
  }
  if (tuple.items.size() == 1 && !has_comma) return tuple.items[0];
  if (tuple.items.empty() && !options.parenthesized) return unexpected("an expression");
  return make(std::move(tuple));
}

Result<ExpressionRef> ExpressionParser::parse_expression() {
  const Depth depth(depth_);
  WEFT_OK(check_depth());
  WEFT_ASSIGN(ExpressionRef value, parse_or());
  while (skip_name("if")) {
    ConditionalNode node{.condition = nullptr, .then = value};
    WEFT_ASSIGN(node.condition, parse_or());
    if (skip_name("else")) {
      WEFT_ASSIGN(node.otherwise, parse_expression());
    }
    value = make(node);
  }
  return value;
}

Result<ExpressionRef> ExpressionParser::parse_or() {
  WEFT_ASSIGN(ExpressionRef left, parse_and());
  while (skip_name("or")) {
    WEFT_ASSIGN(const ExpressionRef right, parse_and());
    left = make(BinaryNode{BinaryOperator::logical_or, left, right});
  }
  return left;
}

Result<ExpressionRef> ExpressionParser::parse_and() {
  WEFT_ASSIGN(ExpressionRef left, parse_not());
  while (skip_name("and")) {
    WEFT_ASSIGN(const ExpressionRef right, parse_not());
    left = make(BinaryNode{BinaryOperator::logical_and, left, right});
  }
  return left;
}

Result<ExpressionRef> ExpressionParser::parse_not() {
  const Depth depth(depth_);
  WEFT_OK(check_depth());
  if (!skip_name("not")) return parse_compare();
  WEFT_ASSIGN(const ExpressionRef operand, parse_not());
  return make(UnaryNode{UnaryOperator::logical_not, operand});
}

Result<ExpressionRef> ExpressionParser::parse_compare() {
  struct Row {
    std::string_view symbol;
    Comparison comparison;
  };
  static constexpr Row rows[] = {{"==", Comparison::equal},  {"!=", Comparison::not_equal},
                                 {"<", Comparison::less},    {"<=", Comparison::less_equal},
                                 {">", Comparison::greater}, {">=", Comparison::greater_equal}};
  WEFT_ASSIGN(const ExpressionRef first, parse_sum());
  CompareNode node{.first = first, .rest = {}};
  while (true) {
    std::optional<Comparison> comparison;
    for (const Row& row : rows)
      if (current().is_symbol(row.symbol)) comparison = row.comparison;
    if (current().is_name("in")) comparison = Comparison::in;
    if (current().is_name("not") && ahead().is_name("in")) {
      comparison = Comparison::not_in;
      advance();
    }
    if (!comparison) break;
    advance();
    WEFT_ASSIGN(const ExpressionRef right, parse_sum());
    node.rest.emplace_back(*comparison, right);
  }
  return node.rest.empty() ? first : make(std::move(node));
}

Result<ExpressionRef> ExpressionParser::parse_sum() {
  WEFT_ASSIGN(ExpressionRef left, parse_concat());
  while (current().is_symbol("+") || current().is_symbol("-")) {
    const BinaryOperator op =
        current().text == "+" ? BinaryOperator::add : BinaryOperator::subtract;
    advance();
    WEFT_ASSIGN(const ExpressionRef right, parse_concat());
    left = make(BinaryNode{op, left, right});
  }
  return left;
}

Result<ExpressionRef> ExpressionParser::parse_concat() {
  WEFT_ASSIGN(const ExpressionRef first, parse_product());
  ConcatNode node{.parts = {first}};
  while (skip_symbol("~")) {
    WEFT_ASSIGN(const ExpressionRef part, parse_product());
    node.parts.push_back(part);
  }
  return node.parts.size() == 1 ? first : make(std::move(node));
}

Result<ExpressionRef> ExpressionParser::parse_product() {
  struct Row {
    std::string_view symbol;
    BinaryOperator op;
  };
  static constexpr Row rows[] = {{"*", BinaryOperator::multiply},
                                 {"/", BinaryOperator::divide},
                                 {"//", BinaryOperator::floor_divide},
                                 {"%", BinaryOperator::modulo}};
  WEFT_ASSIGN(ExpressionRef left, parse_power());
  while (true) {
    const auto row =
        std::ranges::find_if(rows, [&](const Row& one) { return current().is_symbol(one.symbol); });
    if (row == std::end(rows)) return left;
    advance();
    WEFT_ASSIGN(const ExpressionRef right, parse_power());
    left = make(BinaryNode{row->op, left, right});
  }
}

Result<ExpressionRef> ExpressionParser::parse_power() {
  WEFT_ASSIGN(ExpressionRef left, parse_unary(true));
  while (skip_symbol("**")) {
    WEFT_ASSIGN(const ExpressionRef right, parse_unary(true));
    left = make(BinaryNode{BinaryOperator::power, left, right});
  }
  return left;
}

Result<ExpressionRef> ExpressionParser::parse_unary(bool with_filters) {
  const Depth depth(depth_);
  WEFT_OK(check_depth());
  ExpressionRef value = nullptr;
  if (current().is_symbol("-") || current().is_symbol("+")) {
    const UnaryOperator op = current().text == "-" ? UnaryOperator::minus : UnaryOperator::plus;
    advance();
    WEFT_ASSIGN(const ExpressionRef operand, parse_unary(false));
    value = make(UnaryNode{op, operand});
  } else {
    WEFT_ASSIGN(value, parse_primary());
  }
  WEFT_ASSIGN(value, parse_postfix(value));
  if (with_filters) return parse_filters_and_tests(value);
  return value;
}

Result<ExpressionRef> ExpressionParser::parse_name() {
  const std::string name = current().text;
  advance();
  if (name == "true" || name == "True") return make(ConstantNode{Value::boolean(true)});
  if (name == "false" || name == "False") return make(ConstantNode{Value::boolean(false)});
  if (name == "none" || name == "None") return make(ConstantNode{Value::none()});
  for (MacroNode* macro : macros_) {
    macro->uses_caller = macro->uses_caller || name == "caller";
    macro->uses_varargs = macro->uses_varargs || name == "varargs";
    macro->uses_kwargs = macro->uses_kwargs || name == "kwargs";
  }
  return make(NameNode{name});
}

Result<ExpressionRef> ExpressionParser::parse_primary() {
  const Lexeme& lexeme = current();
  switch (lexeme.kind) {
    case Lexeme::Kind::name:
      return parse_name();
    case Lexeme::Kind::string: {
      std::string text;
      for (; current().is(Lexeme::Kind::string); advance())
        text += current().text;  // Adjacent strings are joined.
      return make(ConstantNode{ast_.constants.string(std::move(text))});
    }
    case Lexeme::Kind::integer: {
      const Value value = Value::integer(lexeme.integer);
      advance();
      return make(ConstantNode{value});
    }
    case Lexeme::Kind::floating: {
      const Value value = Value::floating(lexeme.floating);
      advance();
      return make(ConstantNode{value});
    }
    default:
      break;
  }
  if (skip_symbol("(")) {
    WEFT_ASSIGN(const ExpressionRef tuple, parse_tuple({.parenthesized = true}));
    WEFT_OK(expect_symbol(")"));
    return tuple;
  }
  if (lexeme.is_symbol("[")) return parse_list();
  if (lexeme.is_symbol("{")) return parse_dict();
  return unexpected("an expression");
}

Result<ExpressionRef> ExpressionParser::parse_list() {
  advance();
  SequenceNode list;
  while (!skip_symbol("]")) {
    if (!list.items.empty()) {
      WEFT_OK(expect_symbol(","));
      if (skip_symbol("]")) break;
    }
    WEFT_ASSIGN(const ExpressionRef item, parse_expression());
    list.items.push_back(item);
  }
  return make(std::move(list));
}

Result<ExpressionRef> ExpressionParser::parse_dict() {
  advance();
  DictNode dict;
  while (!skip_symbol("}")) {
    if (!dict.items.empty()) {
      WEFT_OK(expect_symbol(","));
      if (skip_symbol("}")) break;
    }
    WEFT_ASSIGN(const ExpressionRef key, parse_expression());
    WEFT_OK(expect_symbol(":"));
    WEFT_ASSIGN(const ExpressionRef value, parse_expression());
    dict.items.emplace_back(key, value);
  }
  return make(std::move(dict));
}

Result<ExpressionRef> ExpressionParser::parse_postfix(ExpressionRef value) {
  while (true) {
    if (current().is_symbol(".") || current().is_symbol("[")) {
      WEFT_ASSIGN(value, parse_subscript(value));
    } else if (current().is_symbol("(")) {
      WEFT_ASSIGN(value, parse_call(value));
    } else {
      return value;
    }
  }
}

Result<ExpressionRef> ExpressionParser::parse_subscript(ExpressionRef object) {
  if (skip_symbol(".")) {
    if (current().is(Lexeme::Kind::integer)) {  // Reads a number as a subscript, as in list.0.
      const Value index = Value::integer(current().integer);
      advance();
      return make(SubscriptNode{object, make(ConstantNode{index})});
    }
    WEFT_ASSIGN(std::string name, expect_any_name());
    return make(AttributeNode{object, std::move(name)});
  }
  advance();
  SliceNode slice{.object = object};
  ExpressionRef index = nullptr;
  if (!current().is_symbol(":")) {
    WEFT_ASSIGN(index, parse_expression());
    if (skip_symbol("]")) return make(SubscriptNode{object, index});
  }
  if (current().is_symbol(",")) {  // object[a, b] has a tuple as its index.
    SequenceNode tuple{.items = {index}, .is_tuple = true};
    while (skip_symbol(",")) {
      WEFT_ASSIGN(const ExpressionRef item, parse_expression());
      tuple.items.push_back(item);
    }
    WEFT_OK(expect_symbol("]"));
    return make(SubscriptNode{object, make(std::move(tuple))});
  }
  slice.start = index;
  WEFT_OK(expect_symbol(":"));
  const auto part_follows = [&] { return !current().is_symbol(":") && !current().is_symbol("]"); };
  if (part_follows()) {
    WEFT_ASSIGN(slice.stop, parse_expression());
  }
  if (skip_symbol(":") && part_follows()) {
    WEFT_ASSIGN(slice.step, parse_expression());
  }
  WEFT_OK(expect_symbol("]"));
  return make(slice);
}

Result<ArgumentNodes> ExpressionParser::parse_arguments() {
  WEFT_OK(expect_symbol("("));
  ArgumentNodes arguments;
  bool first = true;
  while (!skip_symbol(")")) {
    if (!first) {
      WEFT_OK(expect_symbol(","));
      if (skip_symbol(")")) break;
    }
    first = false;
    if (skip_symbol("*")) {
      if (arguments.star != nullptr || arguments.star_star != nullptr)
        return error("'*' is misplaced in a call");
      WEFT_ASSIGN(arguments.star, parse_expression());
    } else if (skip_symbol("**")) {
      if (arguments.star_star != nullptr) return error("'**' occurs twice in a call");
      WEFT_ASSIGN(arguments.star_star, parse_expression());
    } else if (current().is(Lexeme::Kind::name) && ahead().is_symbol("=")) {
      if (arguments.star_star != nullptr) return error("an argument stands after '**'");
      std::string name = current().text;
      advance();
      advance();
      WEFT_ASSIGN(const ExpressionRef value, parse_expression());
      arguments.named.emplace_back(std::move(name), value);
    } else {
      if (!arguments.named.empty() || arguments.star != nullptr || arguments.star_star != nullptr)
        return error("an argument without a name stands after one with a name");
      WEFT_ASSIGN(const ExpressionRef value, parse_expression());
      arguments.positional.push_back(value);
    }
  }
  return arguments;
}

Result<ExpressionRef> ExpressionParser::parse_call(ExpressionRef callee) {
  WEFT_ASSIGN(ArgumentNodes arguments, parse_arguments());
  return make(CallNode{callee, std::move(arguments)});
}

Result<ExpressionRef> ExpressionParser::parse_filters_and_tests(ExpressionRef value) {
  while (true) {
    if (skip_symbol("|")) {
      WEFT_ASSIGN(value, parse_filter(value));
    } else if (skip_name("is")) {
      WEFT_ASSIGN(value, parse_test(value));
    } else if (current().is_symbol("(")) {
      WEFT_ASSIGN(value, parse_call(value));
    } else {
      return value;
    }
  }
}

Result<ExpressionRef> ExpressionParser::parse_filter(ExpressionRef input) {
  FilterNode node{.input = input, .name = {}, .arguments = {}};
  WEFT_ASSIGN(node.name, expect_dotted_name());
  if (current().is_symbol("(")) {
    WEFT_ASSIGN(node.arguments, parse_arguments());
  }
  return make(std::move(node));
}

Result<ExpressionRef> ExpressionParser::parse_filter_chain() {
  WEFT_ASSIGN(ExpressionRef value, parse_filter(nullptr));
  while (skip_symbol("|")) {
    WEFT_ASSIGN(value, parse_filter(value));
  }
  return value;
}

Result<ExpressionRef> ExpressionParser::parse_test(ExpressionRef input) {
  const bool negated = skip_name("not");
  TestNode node{.input = input, .name = {}, .arguments = {}};
  WEFT_ASSIGN(node.name, expect_dotted_name());
  const Lexeme& next = current();
  const bool value_follows = next.is(Lexeme::Kind::name) || next.is(Lexeme::Kind::string) ||
                             next.is(Lexeme::Kind::integer) || next.is(Lexeme::Kind::floating) ||
                             next.is_symbol("[") || next.is_symbol("{");
  if (next.is_symbol("(")) {
    WEFT_ASSIGN(node.arguments, parse_arguments());
  } else if (value_follows && !next.is_name("else") && !next.is_name("or") &&
             !next.is_name("and")) {
    if (next.is_name("is")) return error("tests with 'is' cannot follow one another");
    WEFT_ASSIGN(ExpressionRef argument, parse_primary());
    WEFT_ASSIGN(argument, parse_postfix(argument));
    node.arguments.positional.push_back(argument);
  }
  const ExpressionRef test = make(std::move(node));
  return negated ? make(UnaryNode{UnaryOperator::logical_not, test}) : test;
}

}  // namespace weft::jinja
