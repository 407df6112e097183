// Tests cases that the test vectors do not cover: bounds, errors that name the line, and special
// cases of Python.
#include <gtest/gtest.h>

#include "engine/jinja/read_json.h"
#include "engine/jinja/template.h"

namespace weft::jinja {
namespace {

Result<std::string> render(std::string_view source, std::string_view variables = "{}",
                           const RenderLimits& limits = {}) {
  Heap heap;
  WEFT_ASSIGN(const Value values, read_json(heap, variables));
  WEFT_ASSIGN(const Template made, Template::parse(source));
  return made.render(values, {.now = {.year = 2026}, .limits = limits});
}

std::string text_of(std::string_view source, std::string_view variables = "{}") {
  const auto text = render(source, variables);
  return text ? *text : "error: " + text.error().message;
}

TEST(Jinja, ObjectsKeepTheOrderOfTheirKeysAndNumbersTheirKind) {
  EXPECT_EQ(text_of("{{ v }} {{ v|tojson }}",
                    R"({"v": {"z": 1, "a": [1.0, 2, -0.5, 1e3], "m": {"y": null, "b": true}}})"),
            "{'z': 1, 'a': [1.0, 2, -0.5, 1000.0], 'm': {'y': None, 'b': True}} "
            R"({"z": 1, "a": [1.0, 2, -0.5, 1000.0], "m": {"y": null, "b": true}})");
}

TEST(Jinja, MethodsComeBeforeKeysWithADotAndAfterThemInBrackets) {
  EXPECT_EQ(text_of("{{ d['items'] }} {{ d.items() | list | length }} {{ d.keys is callable }}",
                    R"({"d": {"items": 7}})"),
            "7 1 True");
}

TEST(Jinja, IteratorsWalkOnce) {
  EXPECT_EQ(text_of("{% set g = [1, 2]|map('string') %}{{ g|list }}{{ g|list }}"), "['1', '2'][]");
}

TEST(Jinja, TextMarkedSafeEscapesWhatIsAddedToIt) {
  EXPECT_EQ(text_of("{{ '<a>'|safe + '<b>' }} {{ '<b>' + '<a>'|safe }} {{ '<a>' + '<b>' }}"),
            "<a>&lt;b&gt; &lt;b&gt;<a> <a><b>");
}

TEST(Jinja, ElseOfALoopAlsoRunsWhenNoRoundWasFinished) {
  EXPECT_EQ(text_of("{% for x in [1, 2] %}{{ x }}{% break %}{% else %}none{% endfor %}"), "1none");
  EXPECT_EQ(text_of("{% for x in [1, 2] %}{% if x == 2 %}{% break %}{% endif %}{{ x }}{% else "
                    "%}none{% endfor %}"),
            "1");
}

TEST(Jinja, MacrosSeeTheNamesAroundThemAndTheirArguments) {
  EXPECT_EQ(text_of("{% macro f() %}{{ later }}{% endmacro %}{% set later = 1 %}{{ f() }}"), "1");
  EXPECT_EQ(
      text_of("{% macro f(a) %}{{ a }}{{ varargs }}{{ kwargs }}{% endmacro %}{{ f(1, 2, z=3) }}"),
      "1(2,){'z': 3}");
  EXPECT_EQ(text_of("{% macro f(a) %}{{ a }}{% endmacro %}{{ f(1, 2) }}"),
            "error: The template's line 1: the macro 'f' takes not more than 1 arguments.");
}

TEST(Jinja, FormatsAsPythonDoes) {
  EXPECT_EQ(text_of("{{ '%05.1f|%-4s|%+d|%x|%%|%r' % (3.14159, 'ab', 7, 255, 'q') }}"),
            "003.1|ab  |+7|ff|%|'q'");
  EXPECT_EQ(
      text_of(
          "{{ '{0}-{1}-{a[0]}-{b[c]:>5}-{2:,.2f}'.format(1, 2, 1234.5, a=[9], b={'c': 'x'}) }}"),
      "1-2-9-    x-1,234.50");
}

TEST(Jinja, ErrorsNameTheLine) {
  EXPECT_EQ(text_of("a\nb {{ 1 + 'x' }}"),
            "error: The template's line 2: '+' does not work between int and str.");
  EXPECT_EQ(text_of("\n\n{{ nothing.at_all }}"),
            "error: The template's line 3: 'nothing' is undefined.");
  EXPECT_EQ(text_of("{{ {}.a.b }}"),
            "error: The template's line 1: 'dict object' has no attribute 'a'.");
  EXPECT_EQ(text_of("{% if x %}\n{{ y }}"),
            "error: The template's line 2: 'endif' is expected, not the end of the template.");
  EXPECT_EQ(text_of("{% frobnicate %}"),
            "error: The template's line 1: the statement 'frobnicate' is not known.");
  EXPECT_EQ(text_of("{{ 'open }}"), "error: The template's line 1: a string has no end.");
  EXPECT_EQ(text_of("{{ a ? b }}"),
            "error: The template's line 1: the character '?' has no meaning here.");
  EXPECT_EQ(text_of("{{ [].append(1) }}"),
            "error: The template's line 1: list.append would change its object, which templates "
            "may not.");
  EXPECT_EQ(text_of("{{ 2 ** 127 }}"),
            "error: The template's line 1: an integer becomes too large (2^127).");
}

TEST(Jinja, ARefusalIsTheTemplatesOwnWords) {
  const auto refused = render("{{ raise_exception('No ' ~ 'way') }}");

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(), (Error{ErrorCode::permission_denied, "No way"}));
}

struct HostileCase {
  const char* name;
  std::string source;
};
void PrintTo(const HostileCase& row, std::ostream* out) { *out << row.name; }

std::string repeated(std::string_view text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

// Each of these templates would use up the time, the memory or the stack of the machine if there
// were no bounds.
const std::vector<HostileCase> hostile_cases = {
    {"LongRepeat", "{{ 'x' * 10 ** 15 }}"},
    {"ListRepeat", "{{ [1] * 10 ** 12 }}"},
    {"Doubling",
     "{% set ns = namespace(s='x') %}{% for i in range(99) %}{% set ns.s = ns.s + ns.s %}{% endfor "
     "%}"},
    {"DoublingLists",
     "{% set ns = namespace(s=[1]) %}{% for i in range(99) %}{% set ns.s = ns.s + ns.s %}{% endfor "
     "%}"},
    {"DoublingJoin",
     "{% set ns = namespace(s='x') %}{% for i in range(99) %}{% set ns.s = [ns.s, ns.s]|join %}{% "
     "endfor %}"},
    {"Replace", "{{ ('x' * 100000).replace('x', 'y' * 100000) }}"},
    {"ReplaceNothing", "{{ ('x' * 100000)|replace('', 'y' * 100000) }}"},
    {"Width", "{{ '%999999999d' % 1 }}"},
    {"Center", "{{ 'x'|center(10 ** 12) }}"},
    {"Zfill", "{{ 'x'.zfill(10 ** 12) }}"},
    {"Range", "{{ range(10 ** 9) }}"},
    {"NestedLoops",
     "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"},
    {"Output", "{% for a in range(99999) %}" + repeated("0123456789", 100) + "{% endfor %}"},
    {"Recursion", "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}"},
    {"MutualRecursion",
     "{% macro f() %}{% call g() %}{% endcall %}{% endmacro %}{% macro g() %}{{ caller() }}{{ f() "
     "}}{% endmacro %}{{ f() }}"},
    {"RecursiveLoop", "{% for x in [1] recursive %}{{ loop([x]) }}{% endfor %}"},
    {"DeepValue",
     "{% set ns = namespace(v=[]) %}{% for i in range(9999) %}{% set ns.v = [ns.v] %}{% endfor "
     "%}{{ ns.v }}"},
    {"DeepBrackets", "{{ " + repeated("[", 5000) + repeated("]", 5000) + " }}"},
    {"DeepParentheses", "{{ " + repeated("(", 5000) + "1" + repeated(")", 5000) + " }}"},
    {"DeepNot", "{{ " + repeated("not ", 50000) + "1 }}"},
    {"DeepMinus", "{{ " + repeated("-", 50000) + "1 }}"},
    {"DeepIf", repeated("{% if 1 %}", 5000)},
    {"DeepElse", "{{ " + repeated("1 if 0 else ", 50000) + "1 }}"},
    {"LongSum", "{{ 1" + repeated(" + 1", 50000) + " }}"},
    {"LongFilters", "{{ 1" + repeated("|string", 50000) + " }}"},
    {"LongSubscripts", "{{ x" + repeated("[0]", 50000) + " }}"},
    {"Batches", "{{ range(99999)|batch(1, 'x')|map('batch', 10 ** 9, 'x')|list }}"},
    {"Slices", "{{ [1]|slice(10 ** 12)|list }}"},
    {"ListByAnUndefinedStep", "{{ [1, 2][0:1:nothing] }}"},
    {"TextByAnUndefinedStep", "{{ 'abc'[:2:nothing] }}"},
    {"Exponent", "{{ 7 ** 7 ** 7 ** 7 ** 7 }}"},
};

class Hostile : public testing::TestWithParam<HostileCase> {};
TEST_P(Hostile, IsEndedWithASentence) {
  const auto text = render(GetParam().source, "{}",
                           {.steps_max = 2'000'000,
                            .output_bytes_max = 1 << 20,
                            .memory_bytes_max = std::size_t{64} << 20});

  ASSERT_FALSE(text) << text->substr(0, 100);
  EXPECT_TRUE(text.error().message.ends_with('.')) << text.error().message;
}
INSTANTIATE_TEST_SUITE_P(Jinja, Hostile, testing::ValuesIn(hostile_cases),
                         [](const auto& row) { return row.param.name; });

TEST(Jinja, ANamespaceMayHoldItself) {
  EXPECT_EQ(text_of("{% set ns = namespace() %}{% set ns.me = ns %}{% set ns.list = [ns] %}{{ "
                    "ns.me.list[0].me == ns }}"),
            "True");
}

TEST(ReadJson, SaysWhereTheTextIsWrong) {
  Heap heap;

  EXPECT_EQ(read_json(heap, "{\"a\": 1").error().code, ErrorCode::invalid_argument);
  EXPECT_FALSE(read_json(heap, repeated("[", 200) + repeated("]", 200)));
  EXPECT_TRUE(read_json(heap, R"({"a": 99999999999999999999})"));
}

}  // namespace
}  // namespace weft::jinja
