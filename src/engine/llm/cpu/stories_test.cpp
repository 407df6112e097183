// Tests with stories260K, whose rows are not multiples of 32 and whose head has its own matrix,
// that the logits of every prompt position and the greedy story are those of llama.cpp. Also tests
// sequences, rewind() and layer ranges.
#include "engine/llm/cpu/cpu_engine.h"
#include "engine/llm/run_now.h"
#include "engine/llm/test_stories.h"

namespace weft::llm {
namespace {

using test::read_stories;
using test::stories_model;
using test::Story;
using test::tell;

class Stories : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Formats, Stories, testing::ValuesIn(test::story_formats),
                         [](const auto& row) { return std::string(row.param); });

TEST_P(Stories, AreToldAsByLlamaCpp) {
  const std::string name = std::string("stories260K-") + GetParam() + ".gguf";
  if (!weft::test::find_data("data/gguf/" + name))
    GTEST_SKIP() << weft::test::missing_data("data/gguf/" + name);
  const auto stories = read_stories(name);
  ASSERT_TRUE(stories.has_value()) << stories.error().message;
  ASSERT_EQ(stories->size(), 3u);
  for (const Story& story : *stories) {
    const auto model = stories_model(story.model);
    const auto engine = create_cpu_engine(model->model, *model->source, {.kv = KvFormat::f32}, 1);
    ASSERT_TRUE(engine.has_value()) << engine.error().message;

    const auto told = run_now(tell(**engine, story));

    ASSERT_TRUE(told.has_value()) << told.error().message;
  }
}

const std::vector<Token> prompt = {1, 403, 407, 261, 378, 432, 383, 286};

TEST(CpuEngine, GivesTheSameLogitsHoweverAPromptIsCut) {
  const auto model = stories_model("stories260K-q8_0.gguf");
  const auto engine = create_cpu_engine(model->model, *model->source, {.sequences = 2}, 2).value();
  const SequenceId whole = engine->open().value(), parts = engine->open().value();

  ASSERT_TRUE(run_now(engine->append(whole, prompt)).has_value());
  for (const Token token : prompt) ASSERT_TRUE(run_now(engine->append(parts, {token})).has_value());

  EXPECT_EQ(run_now(engine->logits(whole)).value(), run_now(engine->logits(parts)).value());
}

TEST(CpuEngine, ForgetsWhatIsRewound) {
  const auto model = stories_model("stories260K-q8_0.gguf");
  const auto engine = create_cpu_engine(model->model, *model->source, {.sequences = 2}, 1).value();
  const SequenceId straight = engine->open().value(), back = engine->open().value();
  ASSERT_TRUE(run_now(engine->append(straight, prompt)).has_value());

  ASSERT_TRUE(
      run_now(engine->append(back, {prompt[0], prompt[1], prompt[2], 5, 6, 7})).has_value());
  EXPECT_EQ(engine->rewind(back, 3), 3u);
  ASSERT_TRUE(run_now(engine->append(back, {prompt.begin() + 3, prompt.end()})).has_value());

  EXPECT_EQ(run_now(engine->logits(straight)).value(), run_now(engine->logits(back)).value());
}

TEST(CpuEngine, RunsARangeOfLayersWithTheNumbersOfTheWhole) {
  const auto model = stories_model("stories260K-f32.gguf");
  const auto whole = create_cpu_engine(model->model, *model->source, {}, 1).value();
  const auto first = create_cpu_engine(model->model, *model->source, {.layers = {0, 2}}, 1).value();
  const auto last = create_cpu_engine(model->model, *model->source, {.layers = {2, 5}}, 1).value();
  const SequenceId in_whole = whole->open().value(), in_first = first->open().value(),
                   in_last = last->open().value();
  ASSERT_TRUE(run_now(whole->append(in_whole, prompt)).has_value());

  const auto hidden = run_now(first->forward_tokens(in_first, prompt));
  ASSERT_TRUE(hidden.has_value()) << hidden.error().message;
  ASSERT_TRUE(run_now(last->forward(in_last, *hidden)).has_value());

  EXPECT_EQ(run_now(last->logits(in_last)).value(), run_now(whole->logits(in_whole)).value());
}

TEST(CpuEngine, RefusesWhatDoesNotFit) {
  const auto model = stories_model("stories260K-f32.gguf");
  const auto engine = create_cpu_engine(model->model, *model->source, {.context = 4}, 1).value();
  const SequenceId sequence = engine->open().value();

  EXPECT_EQ(run_now(engine->append(sequence, prompt)).error().message,
            "8 tokens after 0 do not fit into the context of 4 (--context).");
  EXPECT_EQ(run_now(engine->append(sequence, {512})).error().message,
            "The token 512 is not one of the model's 512 tokens.");
  EXPECT_EQ(engine->open().error().code, ErrorCode::resource_exhausted);
  EXPECT_EQ(create_cpu_engine(model->model, *model->source, {.layers = {3, 9}}, 1).error().message,
            "Layers 3 to 9 are not a range of the model's 5 layers.");
}

}  // namespace
}  // namespace weft::llm
