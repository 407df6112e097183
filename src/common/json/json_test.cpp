// Strangers' input is read exactly, or refused with the place. The lenient defaults of glaze do not
// apply.
#include "common/json/json.h"

#include <gtest/gtest.h>

#include <string>

namespace weft::json {
namespace {

std::string message(const auto& result) { return result ? "accepted" : result.error().message; }

TEST(Json, ReadsEveryKindOfValue) {
  const std::string text =
      R"( {"s":"a\n\u00e9\ud83d\ude00","i":-12,"u":18446744073709551615,"d":1.5e3,"t":true,"n":null,"a":[1,[2],{}]} )";
  const auto root = parse(text);
  ASSERT_TRUE(root.has_value()) << root.error().message;
  const auto object = root->object({"s", "i", "u", "d", "t", "n", "a", "missing"});
  ASSERT_TRUE(object.has_value()) << object.error().message;

  EXPECT_EQ(object->get("s")->string().value(), "a\n\xC3\xA9\xF0\x9F\x98\x80");
  EXPECT_EQ(object->get("i")->integer().value(), -12);
  EXPECT_EQ(object->get("u")->unsigned_integer(~std::uint64_t{0}).value(), ~std::uint64_t{0});
  EXPECT_EQ(object->get("d")->number().value(), 1500);
  EXPECT_EQ(object->get("d")->number_text().value(), "1.5e3");
  EXPECT_TRUE(object->get("t")->boolean().value());
  EXPECT_EQ(object->get("n")->kind(), Kind::null);
  const auto items = object->get("a")->array();
  ASSERT_EQ(items->size(), 3U);
  EXPECT_EQ((*items)[1].text(), "[2]");
  EXPECT_EQ((*items)[2].path(), "a[2]");
  EXPECT_FALSE(object->has("missing"));
}

TEST(Json, ReadsScalarsAndEmptyContainersAsWholeDocuments) {
  EXPECT_EQ(parse("12")->integer().value(), 12);
  EXPECT_EQ(parse("\"x\"")->string().value(), "x");
  EXPECT_TRUE(parse("{}")->object({}).has_value());
  EXPECT_TRUE(parse("[]")->array()->empty());
  EXPECT_TRUE(parse("[ ]")->array()->empty());
}

TEST(Json, NamesPathLineAndColumnOfAnError) {
  const std::string text =
      "{\n  \"bindings\": [\n    {}, { \"\xC3\xA9\": 1, \"shape\": \"no\" }\n  ]\n}";
  const auto bindings = parse(text)->object({"bindings"})->get("bindings")->array();
  const auto shape = (*bindings)[1].object({"\xC3\xA9", "shape"})->get("shape");

  // The column counts characters: the two bytes of the accented letter are one character.
  EXPECT_EQ(message(shape->array()),
            "bindings[1].shape: must be an array, not a string (line 3, column 28)");
  EXPECT_EQ(message((*bindings)[0].object({"x"})->get("x")),
            "bindings[0]: lacks the key \"x\" (line 3, column 5)");
  EXPECT_EQ(message((*bindings)[1].object({"shape"})),
            "bindings[1].\xC3\xA9: is not a known key; known here: shape (line 3, column 16)");
}

TEST(Json, RefusesAKeyThatIsThereTwiceHoweverItIsSpelt) {
  EXPECT_EQ(message(parse(R"({"a":1,"a":2})")->object({"a"})),
            "a: occurs twice (line 1, column 12)");
  EXPECT_EQ(message(parse(R"({"a":1,"\u0061":2})")->object({"a"})),
            "a: occurs twice (line 1, column 17)");
}

struct Row {
  const char* text;
};
class NotJson : public testing::TestWithParam<Row> {};
TEST_P(NotJson, IsRefusedAsAWhole) {
  EXPECT_FALSE(parse(GetParam().text).has_value()) << GetParam().text;
}
INSTANTIATE_TEST_SUITE_P(
    Rows, NotJson,
    testing::Values(Row{""}, Row{"  "}, Row{"{"}, Row{"["}, Row{"[1"}, Row{"[1,"}, Row{"[1,]"},
                    Row{"[,1]"}, Row{"{\"a\"}"}, Row{"{\"a\":}"}, Row{"{\"a\":1,}"}, Row{"{a:1}"},
                    Row{"{'a':1}"}, Row{"[1 2]"}, Row{"1 2"}, Row{"{} x"}, Row{"[]]"}, Row{"}"},
                    Row{"\"a"}, Row{"\"a\\\""}, Row{"\"\\x\""}, Row{"\"\\u12\""},
                    Row{"\"\\ud800\""}, Row{"\"\n\""}, Row{"\"\x01\""}, Row{"\"\xFF\""},
                    Row{"\"\xC0\x80\""}, Row{"01"}, Row{"+1"}, Row{"-"}, Row{"1."}, Row{".5"},
                    Row{"1e"}, Row{"1e+"}, Row{"0x10"}, Row{"NaN"}, Row{"nan"}, Row{"Infinity"},
                    Row{"-Infinity"}, Row{"tru"}, Row{"truex"}, Row{"nul"}, Row{"nullx"},
                    Row{"[1]/**/"}, Row{"//x\n1"}, Row{"\xEF\xBB\xBF{}"}, Row{"{\"a\":1 \"b\":2}"},
                    Row{"[1:2]"}, Row{"1,"}, Row{"-01"}, Row{"--1"}, Row{"1-1"}, Row{"[-]"},
                    Row{"{\"a\":-}"}, Row{"[1.]"}, Row{"[01]"}, Row{"[1e]"}));

TEST(Json, RefusesAZeroByteAnywhere) {
  EXPECT_FALSE(parse(std::string_view("{}\0", 3)).has_value());
  EXPECT_FALSE(parse(std::string_view("[1,\0]", 5)).has_value());
  EXPECT_FALSE(parse(std::string_view("\"a\0b\"", 5)).has_value());
}

TEST(Json, BoundsSizeDepthAndCounts) {
  EXPECT_EQ(message(parse("[1,2,3]", {.bytes_max = 6})),
            "The JSON has 7 bytes; at most 6 are read.");
  EXPECT_TRUE(parse(std::string(32, '[') + std::string(32, ']')).has_value());
  EXPECT_EQ(message(parse(std::string(33, '[') + std::string(33, ']'))),
            "the JSON is nested deeper than 32 levels (line 1, column 33)");
  EXPECT_FALSE(parse(std::string(1'000'000, '[')).has_value());
  EXPECT_TRUE(parse("\"[[[[\\\"[[[\"", {.bytes_max = 100, .depth_max = 1}).has_value());
  EXPECT_EQ(message(parse("[1,2,3]")->array({.count_max = 2})),
            "has more than 2 elements (line 1, column 1)");
  EXPECT_EQ(message(parse("{\"a\":1,\"b\":2}")->members({.count_max = 1})),
            "has more than 1 keys (line 1, column 1)");
  EXPECT_EQ(message(parse("\"abc\"")->string({.bytes_max = 2})),
            "has 3 bytes; at most 2 are allowed (line 1, column 1)");
}

TEST(Json, TakesNoNumberForAnotherKindOfNumber) {
  EXPECT_EQ(message(parse("1.0")->integer()), "must be a whole number, not 1.0 (line 1, column 1)");
  EXPECT_EQ(message(parse("1e3")->integer()), "must be a whole number, not 1e3 (line 1, column 1)");
  EXPECT_EQ(message(parse("-1")->integer_as<std::uint32_t>()),
            "must be from 0 to 4294967295, not -1 (line 1, column 1)");
  EXPECT_EQ(message(parse("4294967296")->integer_as<std::uint32_t>()),
            "must be from 0 to 4294967295, not 4294967296 (line 1, column 1)");
  EXPECT_EQ(parse("9223372036854775807")->integer().value(), 9223372036854775807);
  EXPECT_FALSE(parse("9223372036854775808")->integer().has_value());
  EXPECT_FALSE(parse("18446744073709551616")->unsigned_integer(~std::uint64_t{0}).has_value());
  EXPECT_FALSE(parse("1e400")->number().has_value());
  EXPECT_FALSE(parse("1e-400")->number().has_value());
  EXPECT_EQ(message(parse("true")->number()),
            "must be a number, not true or false (line 1, column 1)");
}

TEST(Json, NeedsNoTerminatorBehindTheText) {
  // The bytes after the view would change the value if they were read.
  const std::string text = "[12]34";
  EXPECT_EQ((*parse(std::string_view(text).substr(0, 4))->array())[0].integer().value(), 12);
  EXPECT_EQ(parse(std::string_view(text).substr(1, 1))->integer().value(), 1);
}

}  // namespace
}  // namespace weft::json
