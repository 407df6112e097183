#include "engine/schema/schema.h"

#include "common/json/json.h"
#include "engine/schema/conjunction.h"
#include "engine/schema/rules.h"
#include "engine/schema/writer.h"

namespace weft::schema {

namespace {

// Returns the name of a rule for the values of a schema.
Result<std::string> rule_of(std::string_view text, Rules& rules) {
  if (text.size() > schema_bytes_max)
    return fail(ErrorCode::resource_exhausted, "The schema has {} bytes; at most {} are read.",
                text.size(), schema_bytes_max);
  WEFT_ASSIGN(const json::Value root,
              json::parse(text, {.bytes_max = schema_bytes_max, .depth_max = 64}));
  const Document document(root);
  SchemaWriter writer(document, rules);
  WEFT_ASSIGN(const Expression body, writer.write({document.root()}));
  if (!body)
    return fail(ErrorCode::invalid_argument,
                "The schema allows nothing: its keywords contradict one another.");
  return *body;
}

}  // namespace

Result<std::string> grammar_of_schema(std::string_view text) {
  Rules rules;
  WEFT_ASSIGN(const std::string root, rule_of(text, rules));
  return rules.text(root);
}

Result<std::string> grammar_of_variants(const std::vector<Variant>& variants, const Frame& frame) {
  Rules rules;
  const std::string marked_text = rules.define(R"g(([^<] | "<" [^/])*)g");
  const auto quoted = [](const std::string& text) {
    return text.empty() ? std::string() : literal(text) + " ";
  };
  std::vector<std::string> ways;
  for (const Variant& variant : variants) {
    std::string way;
    for (const Part& part : variant.parts) {
      std::string value;
      if (part.text) {
        value = marked_text + " ";
      } else if (!part.schema.empty()) {
        WEFT_ASSIGN(value, rule_of(part.schema, rules));
        value += " ";
      }
      const std::string all = quoted(part.before) + value + quoted(part.after);
      way += part.optional ? "(" + all + ")? " : all;
    }
    ways.push_back(rules.define(way));
  }
  const std::string one = rules.define(any_of(ways));
  std::string root = quoted(frame.open) + one;
  if (frame.many) root += " (" + quoted(frame.between) + one + ")*";
  return rules.text(root + " " + quoted(frame.close));
}

std::string_view json_object_grammar() {
  return R"(root ::= object
value ::= object | array | string | number | "true" | "false" | "null"
object ::= "{" ws (string ":" ws value ws ("," ws string ":" ws value ws)*)? "}"
array ::= "[" ws (value ws ("," ws value ws)*)? "]"
string ::= "\"" ([^"\\\x00-\x1F] | "\\" (["\\/bfnrt] | "u" ([0-9a-cA-CefEF] hex hex hex | [dD] [0-7] hex hex)))* "\""
hex ::= [0-9a-fA-F]
number ::= "-"? ("0" | [1-9] [0-9]{0,14}) ("." [0-9]{1,15})? ([eE] [-+]? [1-9] [0-9]?)?
ws ::= " "? | "\n" [ \t]{0,20}
)";
}

}  // namespace weft::schema
