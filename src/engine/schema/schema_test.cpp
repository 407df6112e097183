// Tests what schemas allow and refuse, keyword by keyword, and the exact message for what a grammar
// cannot express. tests/e2e/schema.test.mjs checks random schemas with a validator.
#include "engine/schema/schema.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "engine/grammar/gbnf.h"
#include "engine/grammar/matcher.h"

namespace weft::schema {
namespace {

using grammar::Matcher;

std::unique_ptr<Matcher> matcher_of(std::string_view gbnf) {
  auto made = grammar::parse_gbnf(gbnf);
  EXPECT_TRUE(made) << made.error().message << "\n" << gbnf;
  if (!made) return nullptr;
  return std::make_unique<Matcher>(std::make_shared<const grammar::Grammar>(std::move(*made)));
}

bool takes(Matcher& matcher, std::string_view text) {
  const Matcher::State state = matcher.next(matcher.start(), text);
  return state < Matcher::full && matcher.accepts(state);
}

struct Meaning {
  std::string_view schema;
  std::vector<std::string_view> taken;
  std::vector<std::string_view> refused;
};

void expect_meanings(const std::vector<Meaning>& meanings) {
  for (const Meaning& meaning : meanings) {
    const auto gbnf = grammar_of_schema(meaning.schema);
    ASSERT_TRUE(gbnf) << meaning.schema << ": " << gbnf.error().message;
    const auto matcher = matcher_of(*gbnf);
    ASSERT_TRUE(matcher) << meaning.schema;
    for (const auto text : meaning.taken)
      EXPECT_TRUE(takes(*matcher, text)) << meaning.schema << " takes " << text << "\n" << *gbnf;
    for (const auto text : meaning.refused)
      EXPECT_FALSE(takes(*matcher, text)) << meaning.schema << " refuses " << text << "\n" << *gbnf;
  }
}

TEST(Schema, TypesAndListedValues) {
  expect_meanings({
      {"{}", {"1", "null", R"({"a": [1, "b"]})"}, {"", "{a}"}},
      {"true", {"[]"}, {"]"}},
      {R"({"type": "boolean"})", {"true", "false"}, {"null", "1"}},
      {R"({"type": ["string", "null"]})", {"null", R"("x")"}, {"1"}},
      {R"({"type": "integer"})", {"0", "-7", "123"}, {"1.5", "01", "+1"}},
      {R"({"type": "number"})", {"0.5", "-1e10", "3"}, {".5", "1."}},
      {R"({"enum": ["a", 1, null, {"x": [1, 2]}]})",
       {R"("a")", "1", "null", R"({"x": [1, 2]})"},
       {R"("b")", "2"}},
      {R"({"enum": ["a", 1], "type": "string"})", {R"("a")"}, {"1"}},
      {R"({"const": "a\"\\\n"})", {R"("a\"\\\n")"}, {R"("a")"}},
  });
}

TEST(Schema, NumbersWithinBounds) {
  expect_meanings({
      {R"({"type": "integer", "minimum": 3, "maximum": 120})",
       {"3", "9", "10", "99", "100", "120"},
       {"2", "121", "-3", "0", "1000", "03"}},
      {R"({"type": "integer", "exclusiveMinimum": -3, "exclusiveMaximum": 2})",
       {"-2", "-1", "0", "1"},
       {"-3", "2", "-0"}},
      {R"({"type": "integer", "minimum": 1995})", {"1995", "2000", "99999"}, {"1994", "999", "-1"}},
      {R"({"type": "integer", "maximum": -15})", {"-15", "-20", "-100"}, {"-14", "0", "15"}},
      {R"({"type": "number", "minimum": 0.25, "maximum": 10.5})",
       {"0.25", "0.3", "0.250", "1", "9.99", "10", "10.5", "10.49"},
       {"0.2", "0", "10.51", "11", "-1", "0.249"}},
      {R"({"type": "number", "exclusiveMinimum": 0})", {"0.001", "1", "12.5"}, {"0", "0.0", "-1"}},
  });
}

TEST(Schema, MultiplesOfWholeNumbers) {
  expect_meanings({
      {R"({"type": "integer", "multipleOf": 7})", {"0", "7", "-14", "700"}, {"1", "-8", "70.0"}},
      {R"({"multipleOf": 25, "minimum": -30, "maximum": 60})",
       {"-25", "0", "25", "50"},
       {"75", "5"}},
  });
}

TEST(Schema, StringsWithLengthsPatternsAndFormats) {
  expect_meanings({
      {R"({"type": "string", "minLength": 2, "maxLength": 3})",
       {R"("ab")", R"("éé")", R"("a\n\"")", R"("a\u00e9")"},
       {R"("a")", R"("abcd")", "\"a\nb\"", R"("\ud800x")"}},
      {R"({"pattern": "^[A-Z]{2}-\\d+$"})",
       {R"("AB-1")", R"("XY-123")"},
       {R"("A-1")", R"("AB-")", R"("xAB-1")"}},
      {R"({"pattern": "b+"})", {R"("abc")", R"("b")"}, {R"("ac")", R"("")"}},
      {R"({"pattern": "^(yes|no)?$|^x"})", {R"("yes")", R"("")", R"("xyz")"}, {R"("maybe")"}},
      {R"({"pattern": "^[^a-z]\\s\\W.$"})", {R"("A\t!x")"}, {R"("a !x")", "\"A\t!x\""}},
      {R"({"pattern": "^\"\\\\/$"})", {R"("\"\\/")"}, {R"(""\/")"}},
      {R"({"pattern": "^(?:a|(?<n>b)){0,3}?$", "maxLength": 9})",
       {R"("aba")", R"("")"},
       {R"("abab")"}},
      {R"({"pattern": "^[a-c]{3}$", "minLength": 1, "maxLength": 5})", {R"("abc")"}, {R"("ab")"}},
      {R"({"format": "date"})",
       {R"("2024-02-28")", R"("1999-12-31")"},
       {R"("2024-02-30")", R"("x")"}},
      {R"({"format": "uuid"})", {R"("123e4567-e89b-12d3-a456-426614174000")"}, {R"("123")"}},
      {R"({"type": "integer", "format": "int64"})", {"5"}, {}},
  });
}

TEST(Schema, ArraysAndTuples) {
  expect_meanings({
      {R"({"type": "array", "items": {"type": "integer"}})",
       {"[]", "[1]", "[1, 2, 3]"},
       {"[1,2]", R"(["a"])"}},
      {R"({"items": {"type": "boolean"}, "minItems": 2, "maxItems": 3})",
       {"[true, false]", "[true, true, true]"},
       {"[]", "[true]", "[true, true, true, true]"}},
      {R"({"prefixItems": [{"type": "integer"}, {"type": "string"}], "items": false, "minItems": 1})",
       {"[1]", R"([1, "a"])"},
       {"[]", R"(["a"])", R"([1, "a", 2])"}},
      {R"({"items": [{"const": 1}], "additionalItems": {"const": 2}, "minItems": 2})",
       {"[1, 2]", "[1, 2, 2]"},
       {"[1]", "[2]"}},
      {R"({"type": "array", "maxItems": 0})", {"[]"}, {"[1]"}},
      {R"({"items": false})", {"[]"}, {"[1]"}},
      {R"({"type": "array", "items": {"type": "null"}, "maxItems": 1, "uniqueItems": true})",
       {"[null]"},
       {"[null, null]"}},
  });
}

TEST(Schema, Objects) {
  expect_meanings({
      {R"({"properties": {"a": {"type": "integer"}, "b": {"type": "string"}}, "required": ["b"]})",
       {R"({"b": "x"})", R"({"a": 1, "b": ""})"},
       {"{}", R"({"a": 1})", R"({"b": "x", "c": 1})", R"({"b": 1})"}},
      {R"({"properties": {"a": {}, "b": {}, "c": {}}})",
       {"{}", R"({"a": 1})", R"({"a": 1, "c": []})", R"({"b": 1, "c": 2})", R"({"c": 0})"},
       {R"({"c": 0, "a": 1})", R"({, "a": 1})", R"({"a": 1, })"}},
      {R"({"properties": {"ab": {"const": 1}}, "additionalProperties": {"const": 2}})",
       {"{}", R"({"ab": 1})", R"({"ab": 1, "a": 2})", R"({"abc": 2, "": 2})", R"({"b": 2})"},
       {R"({"ab": 2})", R"({"a": 1})"}},
      {R"({"type": "object", "additionalProperties": {"type": "integer"}, "maxProperties": 2, "minProperties": 1})",
       {R"({"x": 1})", R"({"x": 1, "y": 2})"},
       {"{}", R"({"x": 1, "y": 2, "z": 3})"}},
      {R"({"properties": {"a": {"const": 1}, "b": {"const": 2}, "c": {"const": 3}}, "minProperties": 2, "maxProperties": 2})",
       {R"({"a": 1, "b": 2})", R"({"a": 1, "c": 3})", R"({"b": 2, "c": 3})"},
       {R"({"a": 1})", R"({"a": 1, "b": 2, "c": 3})"}},
      {R"({"required": ["x"]})", {R"({"x": [1]})"}, {"{}"}},
      {R"({"properties": {"a": false, "b": {"const": 1}}})",
       {"{}", R"({"b": 1})"},
       {R"({"a": 1})"}},
      {R"({"properties": {"k\"\n": {"const": 1}}, "required": ["k\"\n"]})",
       {R"({"k\"\n": 1})"},
       {}},
      {R"({"type": "object", "additionalProperties": false})", {"{}"}, {R"({"a": 1})"}},
  });
}

TEST(Schema, ReferencesAndCombinations) {
  expect_meanings({
      {R"({"$defs": {"node": {"type": "object", "properties": {"next": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]}}, "required": ["next"]}}, "$ref": "#/$defs/node"})",
       {R"({"next": null})", R"({"next": {"next": {"next": null}}})"},
       {"{}", R"({"next": {}})"}},
      {R"({"definitions": {"a/b~c": {"const": 1}}, "$ref": "#/definitions/a~1b~0c"})",
       {"1"},
       {"2"}},
      {R"({"allOf": [{"properties": {"a": {"minimum": 3}}}, {"properties": {"a": {"type": "integer", "maximum": 5}, "b": {"const": 0}}, "required": ["a"]}]})",
       {R"({"a": 4})", R"({"a": 3, "b": 0})"},
       {R"({"a": 6})", R"({"b": 0})"}},
      {R"({"type": "object", "properties": {"t": {"const": "x"}}, "anyOf": [{"required": ["t"]}, {"properties": {"u": {"const": 2}}, "required": ["u"]}]})",
       {R"({"t": "x"})", R"({"t": "x", "u": 2})", R"({"u": 2})"},
       {"{}"}},
      {R"({"oneOf": [{"type": "string"}, {"type": "integer"}]})", {"1", R"("a")"}, {"1.5"}},
      {R"({"oneOf": [{"properties": {"k": {"const": "a"}, "v": {"type": "integer"}}, "required": ["k", "v"]}, {"properties": {"k": {"const": "b"}}, "required": ["k"]}], "type": "object"})",
       {R"({"k": "a", "v": 1})", R"({"k": "b"})"},
       {R"({"k": "a"})", R"({"k": "b", "v": 1})"}},
      {R"({"anyOf": [false, {"const": 1}]})", {"1"}, {"2"}},
      {R"({"allOf": [{"type": ["integer", "string"]}, {"type": ["integer", "null"]}]})",
       {"5"},
       {R"("a")", "null"}},
  });
}

TEST(Schema, WhatCannotBeHeldToIsNamedWithItsPlace) {
  const std::pair<std::string_view, std::string_view> rows[] = {
      {R"({"properties": {"a": {"patternProperties": {}}}})",
       "The schema's keyword 'patternProperties' at #/properties/a is not supported."},
      {R"({"not": {}})", "The schema's keyword 'not' at # is not supported."},
      {R"({"items": {"uniqueItems": true}})",
       "The schema's keyword 'uniqueItems' at #/items is not supported."},
      {R"({"multipleOf": 0.5})",
       "The schema's keyword 'multipleOf' at # is not supported with a number that is not whole."},
      {R"({"multipleOf": 3, "minimum": 1})",
       "The schema's keyword 'multipleOf' at # is not supported with only one bound."},
      {R"({"oneOf": [{"type": "number"}, {"type": "integer"}]})",
       "The schema's keyword 'oneOf' at # is not supported with options that may hold at the same "
       "time."},
      {R"({"enum": [1], "minimum": 0})",
       "The schema's keyword 'minimum' at # is not supported beside 'enum' or 'const'."},
      {R"g({"pattern": "(?=a)"})g", "The pattern '(?=a)' at # has '(?=', which is not supported."},
      {R"({"pattern": "a\\b"})", "The pattern 'a\\b' at # has '\\b', which is not supported."},
      {R"({"pattern": "a("})", "The pattern 'a(' at # has a '(' without its ')'."},
      {R"({"pattern": "a$b"})",
       "The pattern 'a$b' at # has '$' elsewhere than at the beginning or the end, which is not "
       "supported."},
      {R"({"pattern": "^a+$", "maxLength": 3})",
       "The schema's keyword 'maxLength' at # is not supported beside a 'pattern' or 'format' of "
       "other lengths."},
      {R"({"format": "iri"})", "The schema's keyword 'format' at # is not supported with \"iri\"."},
      {R"({"$ref": "other.json"})",
       "The schema's reference 'other.json' at # leads to another document, which is not "
       "supported."},
      {R"({"$ref": "#/$defs/x"})",
       "The schema's reference '#/$defs/x' at # names no place in the schema."},
      {R"({"$ref": "#"})", "The schema at # refers directly to itself, so it describes no value."},
      {R"({"anyOf": [{"$ref": "#"}, {"type": "null"}]})",
       "The schema at # refers directly to itself, so it describes no value."},
      {R"({"a": 1})", "The schema's keyword 'a' at # is not supported."},
      {R"({"type": "text"})", "The schema's keyword 'type' at # names no type of JSON."},
      {R"({"minLength": -1})", "The schema's keyword 'minLength' at # is not a count."},
      {R"({"minLength": 100000})",
       "The schema's keyword 'minLength' at # is not supported above 16384."},
      {R"({"properties": []})", "The schema's keyword 'properties' at # is not an object."},
      {"5", "The schema at # is neither an object nor a boolean."},
      {"false", "The schema allows nothing: its keywords contradict one another."},
      {R"({"type": "integer", "minimum": 5, "maximum": 4})",
       "The schema allows nothing: its keywords contradict one another."},
      {R"({"properties": {"a": {"type": "integer", "minimum": 5, "maximum": 4}}, "required": ["a"]})",
       "The schema allows nothing: its keywords contradict one another."}};
  for (const auto& [schema, message] : rows) {
    const auto gbnf = grammar_of_schema(schema);
    ASSERT_FALSE(gbnf) << schema;
    EXPECT_EQ(gbnf.error().message, message) << schema;
  }
}

TEST(Schema, AnyObjectTakesWhatWritersOfJsonWrite) {
  const auto matcher = matcher_of(json_object_grammar());

  EXPECT_TRUE(takes(*matcher, R"({"a":1,"b":[true,null],"c":{"d":"\u00e9"}})"));
  EXPECT_TRUE(takes(*matcher, "{\n  \"a\": 1,\n  \"b\": [\n    2\n  ]\n}"));
  EXPECT_FALSE(takes(*matcher, "[1]"));
  EXPECT_FALSE(takes(*matcher, R"({"a" 1})"));
}

TEST(Schema, ValuesStandInsideOtherText) {
  const auto gbnf = grammar_of_variants(
      {{.parts = {{.before = "<f>", .schema = R"({"type": "integer"})", .after = "</f>"}}},
       {.parts = {{.before = "<g>"},
                  {.before = "<a>", .text = true, .after = "</a>", .optional = true},
                  {.before = "</g>"}}}},
      {.open = "[", .between = ";", .close = "]", .many = true});
  ASSERT_TRUE(gbnf) << gbnf.error().message;
  const auto matcher = matcher_of(*gbnf);

  EXPECT_TRUE(takes(*matcher, "[<f>12</f>]"));
  EXPECT_TRUE(takes(*matcher, "[<g><a>x < y</a></g>;<f>1</f>;<g></g>]"));
  EXPECT_FALSE(takes(*matcher, "[]"));
  EXPECT_FALSE(takes(*matcher, "[<f>a</f>]"));
  EXPECT_FALSE(takes(*matcher, "[<f>1</f>"));
}

TEST(Schema, HostileSchemasAreRefusedWithinBounds) {
  std::string choices = R"({"allOf": [)";
  for (int i = 0; i < 20; ++i)
    choices += std::string(i > 0 ? "," : "") + R"({"anyOf": [{"minLength": 1}, {"maxLength": 5}]})";
  choices += "]}";
  std::string deep;
  for (int i = 0; i < 60; ++i) deep += R"({"items":)";
  deep += "{}" + std::string(60, '}');

  const auto many = grammar_of_schema(choices);

  ASSERT_FALSE(many);
  EXPECT_EQ(many.error().code, ErrorCode::resource_exhausted);
  EXPECT_TRUE(grammar_of_schema(deep));
}

}  // namespace
}  // namespace weft::schema
