// stories260K, whose rows are not multiples of 32, with a head of its own: logits of every prompt position and the greedy story
// as llama.cpp gives them; and what sequences, rewinding and layer ranges promise.
#include <cstring>

#include "engine/llm/cpu/cpu_engine.h"
#include "engine/llm/run_now.h"
#include "engine/llm/test_expected.h"

namespace weft::llm {
namespace {

struct Story {
  std::string model;
  std::vector<Token> prompt;
  std::vector<float> logits;  // [prompt position][512]
  std::vector<Token> greedy;
  std::vector<double> gaps;
};

Result<Story> read_story(const json::Value& value) {
  Story story;
  WEFT_ASSIGN(const json::Object object,
              value.object({"model", "prompt", "prompt_ids", "logits", "logits_shape", "greedy_ids", "min_gap", "top1_minus_top2"}));
  WEFT_ASSIGN(const json::Value model, object.get("model"));
  WEFT_ASSIGN(story.model, model.string());
  WEFT_ASSIGN(const json::Value prompt, object.get("prompt_ids"));
  WEFT_ASSIGN(story.prompt, test::read_tokens(prompt));
  WEFT_ASSIGN(const json::Value greedy, object.get("greedy_ids"));
  WEFT_ASSIGN(story.greedy, test::read_tokens(greedy));
  WEFT_ASSIGN(const json::Value gaps, object.get("top1_minus_top2"));
  const auto read_gap = [&](const json::Value& gap) -> Result<> {
    WEFT_ASSIGN(const double number, gap.number());
    story.gaps.push_back(number);
    return {};
  };
  WEFT_OK(gaps.for_each({}, read_gap));
  WEFT_ASSIGN(const json::Value logits, object.get("logits"));
  WEFT_ASSIGN(const std::string file, logits.string());
  const std::string bytes = weft::test::read_bytes(*weft::test::find_data("data/gguf/" + file));
  story.logits.resize(bytes.size() / sizeof(float));
  std::memcpy(story.logits.data(), bytes.data(), bytes.size());
  return story;
}

Result<std::vector<Story>> read_stories() {
  std::vector<Story> stories;
  const std::string text = weft::test::read_bytes(*weft::test::find_data("data/gguf/expected.json"));
  WEFT_ASSIGN(const json::Value root, json::parse(text));
  WEFT_ASSIGN(const json::Object document, root.object({"made_with", "logits", "cases"}));
  WEFT_ASSIGN(const json::Value cases, document.get("cases"));
  const auto read = [&](const json::Value& value) -> Result<> {
    WEFT_ASSIGN(Story story, read_story(value));
    stories.push_back(std::move(story));
    return {};
  };
  WEFT_OK(cases.for_each({}, read));
  return stories;
}

std::unique_ptr<test::OpenModel> stories_model(const std::string& name) {
  auto model = test::open_model(*weft::test::find_data("data/gguf/" + name));
  EXPECT_TRUE(model.has_value()) << model.error().message;
  return std::move(*model);
}

// llama.cpp rounds activations to int8 for quantized weights and to f16 for f16 ones, which moves its logits; f32 it keeps.
double logit_bound(const std::string& model) { return model.contains("f32") ? 1e-3 : model.contains("f16") ? 0.05 : 0.5; }

Async<Result<>> tell(Engine& engine, Story story) {
  const double bound = logit_bound(story.model);
  WEFT_CO_ASSIGN(const SequenceId sequence, engine.open());
  for (std::size_t i = 0; i < story.prompt.size(); ++i) {
    WEFT_CO_OK(co_await engine.append(sequence, {story.prompt[i]}));
    WEFT_CO_ASSIGN(const std::vector<float> logits, co_await engine.logits(sequence));
    double error = 0;
    for (std::size_t t = 0; t < logits.size(); ++t)
      error = std::max(error, std::abs(static_cast<double>(logits[t]) - story.logits[i * logits.size() + t]));
    EXPECT_LT(error, bound) << story.model << " position " << i;
  }
  for (std::size_t i = 0; i < story.greedy.size(); ++i) {
    WEFT_CO_ASSIGN(const std::vector<Drawn> drawn, co_await engine.draw({sequence}, 0));
    if (drawn[0].token == story.greedy[i]) continue;
    EXPECT_LT(story.gaps[i], 2 * bound) << story.model << " token " << i;
    break;
  }
  engine.close(sequence);
  co_return Result<>();
}

TEST(Stories, AreToldAsByLlamaCpp) {
  const auto stories = read_stories();
  ASSERT_TRUE(stories.has_value()) << stories.error().message;
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

  ASSERT_TRUE(run_now(engine->append(back, {prompt[0], prompt[1], prompt[2], 5, 6, 7})).has_value());
  EXPECT_EQ(engine->rewind(back, 3), 3u);
  ASSERT_TRUE(run_now(engine->append(back, {prompt.begin() + 3, prompt.end()})).has_value());

  EXPECT_EQ(run_now(engine->logits(straight)).value(), run_now(engine->logits(back)).value());
}

TEST(CpuEngine, RunsARangeOfLayersWithTheNumbersOfTheWhole) {
  const auto model = stories_model("stories260K-f16.gguf");
  const auto whole = create_cpu_engine(model->model, *model->source, {}, 1).value();
  const auto first = create_cpu_engine(model->model, *model->source, {.layers = {0, 2}}, 1).value();
  const auto last = create_cpu_engine(model->model, *model->source, {.layers = {2, 5}}, 1).value();
  const SequenceId in_whole = whole->open().value(), in_first = first->open().value(), in_last = last->open().value();
  ASSERT_TRUE(run_now(whole->append(in_whole, prompt)).has_value());

  const auto hidden = run_now(first->forward_tokens(in_first, prompt));
  ASSERT_TRUE(hidden.has_value()) << hidden.error().message;
  ASSERT_TRUE(run_now(last->forward(in_last, *hidden)).has_value());

  EXPECT_EQ(run_now(last->logits(in_last)).value(), run_now(whole->logits(in_whole)).value());
}

TEST(CpuEngine, RefusesWhatDoesNotFit) {
  const auto model = stories_model("stories260K-f16.gguf");
  const auto engine = create_cpu_engine(model->model, *model->source, {.context = 4}, 1).value();
  const SequenceId sequence = engine->open().value();

  EXPECT_EQ(run_now(engine->append(sequence, prompt)).error().message, "8 tokens behind 0 do not fit into the context of 4 (--context).");
  EXPECT_EQ(run_now(engine->append(sequence, {512})).error().message, "512 is no token of the model, which has 512.");
  EXPECT_EQ(engine->open().error().code, ErrorCode::resource_exhausted);
  EXPECT_EQ(create_cpu_engine(model->model, *model->source, {.layers = {3, 9}}, 1).error().message,
            "Layers 3 to 9 are not a range of the model's 5.");
}

}  // namespace
}  // namespace weft::llm
