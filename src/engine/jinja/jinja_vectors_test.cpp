// Tests that templates give the text of jinja2, byte for byte, and fail where jinja2 fails.
#include <gtest/gtest.h>

#include "common/base/test_data.h"
#include "engine/jinja/read_json.h"
#include "engine/jinja/template.h"

namespace weft::jinja {
namespace {

const WallTime clock_time{.year = 2026, .month = 1, .day = 2, .hour = 3, .minute = 4, .second = 5};

// Returns a member of a case, or none if the case does not have it.
Value member(const Value& object, std::string_view name) {
  const Value* value = object.as_dict().find(name);
  return value == nullptr ? Value::none() : *value;
}

Value read_file(Heap& heap, std::string_view name) {
  const auto value = read_json(heap, test::read_bytes(test::find_data(name).value()));
  EXPECT_TRUE(value) << value.error().message;
  return *value;
}

Result<std::string> render(std::string_view source, const Value& variables) {
  WEFT_ASSIGN(const Template made, Template::parse(source));
  return made.render(variables, {.now = clock_time});
}

// Compares one outcome with the expectation of the case.
void expect_outcome(const Result<std::string>& outcome, const Value& row, const std::string& name) {
  if (member(row, "error").is(Kind::none)) {
    ASSERT_TRUE(outcome) << name << ": " << outcome.error().message;
    EXPECT_EQ(*outcome, member(row, "expected").as_text()) << name;
    return;
  }
  ASSERT_FALSE(outcome) << name;
  if (member(row, "error").as_text() == "raise_exception") {
    EXPECT_EQ(outcome.error().code, ErrorCode::permission_denied) << name;
    EXPECT_EQ(outcome.error().message, member(row, "message").as_text()) << name;
  } else {
    EXPECT_NE(outcome.error().code, ErrorCode::permission_denied)
        << name << ": " << outcome.error().message;
  }
}

TEST(JinjaVectors, SingleConstructs) {
  Heap heap;
  const Value file = read_file(heap, "data/chat/jinja-syntax.json");
  ASSERT_EQ(member(file, "cases").items().size(), 62u);
  for (const Value& row : member(file, "cases").items()) {
    const std::string source(member(row, "template").as_text());
    expect_outcome(render(source, member(file, "context")), row, source);
  }
}

TEST(JinjaVectors, ElevenModelsWithTwentyFourConversations) {
  Heap heap;
  const Value file = read_file(heap, "data/chat/expected.json");
  ASSERT_EQ(member(file, "cases").items().size(), 264u);
  for (const Value& row : member(file, "cases").items()) {
    const std::string name = std::string(member(row, "template").as_text()) + ", " +
                             std::string(member(row, "case").as_text());
    const std::string source = test::read_bytes(
        test::find_data("data/chat/templates/" + std::string(member(row, "template").as_text()))
            .value());
    std::vector<std::pair<Value, Value>> variables = {{heap.string("documents"), Value::none()}};
    for (const std::string_view key :
         {"messages", "tools", "add_generation_prompt", "bos_token", "eos_token"})
      variables.emplace_back(heap.string(std::string(key)), member(row, key));
    if (const Value extra = member(row, "extra"); extra.is(Kind::dict))
      variables.insert(variables.end(), extra.as_dict().items.begin(), extra.as_dict().items.end());

    expect_outcome(render(source, heap.dict(variables).value()), row, name);
  }
}

TEST(JinjaVectors, TemplatesOfManyModels) {
  Heap heap;
  const Value file = read_file(heap, "data/chat/upstream.json");
  ASSERT_EQ(member(file, "cases").items().size(), 17u);
  for (const Value& row : member(file, "cases").items()) {
    std::vector<std::pair<Value, Value>> variables = {
        {heap.string("messages"), member(file, "messages")},
        {heap.string("add_generation_prompt"), member(file, "add_generation_prompt")},
        {heap.string("bos_token"), member(row, "bos_token")},
        {heap.string("eos_token"), member(row, "eos_token")},
        {heap.string("tools"), Value::none()},
        {heap.string("documents"), Value::none()}};
    expect_outcome(render(member(row, "template").as_text(), heap.dict(variables).value()), row,
                   std::string(member(row, "name").as_text()));
  }
}

}  // namespace
}  // namespace weft::jinja
