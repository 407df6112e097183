// The model stories260K and the output of llama.cpp with it, for the tests of every engine: the
// logits of every prompt position and the greedy story. The f16 file and its logits are read from
// $WEFT_DATA.
#pragma once

#include <cstring>

#include "engine/llm/test_expected.h"

namespace weft::llm::test {

inline constexpr const char* story_formats[] = {"f32", "f16", "q8_0"};

struct Story {
  std::string model;
  std::vector<Token> prompt;
  std::string logits_file;
  std::vector<float> logits;  // Logits [prompt position][512]; read_stories fills them.
  std::vector<Token> greedy;
  std::vector<double> gaps;
};

inline Result<Story> read_story(const json::Value& value) {
  Story story;
  WEFT_ASSIGN(const json::Object object,
              value.object({"model", "prompt", "prompt_ids", "logits", "logits_shape", "greedy_ids",
                            "min_gap", "top1_minus_top2"}));
  WEFT_ASSIGN(const json::Value model, object.get("model"));
  WEFT_ASSIGN(story.model, model.string());
  WEFT_ASSIGN(const json::Value prompt, object.get("prompt_ids"));
  WEFT_ASSIGN(story.prompt, read_tokens(prompt));
  WEFT_ASSIGN(const json::Value greedy, object.get("greedy_ids"));
  WEFT_ASSIGN(story.greedy, read_tokens(greedy));
  WEFT_ASSIGN(const json::Value gaps, object.get("top1_minus_top2"));
  const auto read_gap = [&](const json::Value& gap) -> Result<> {
    WEFT_ASSIGN(const double number, gap.number());
    story.gaps.push_back(number);
    return {};
  };
  WEFT_OK(gaps.for_each({}, read_gap));
  WEFT_ASSIGN(const json::Value logits, object.get("logits"));
  WEFT_ASSIGN(story.logits_file, logits.string());
  return story;
}

inline Result<> read_logits(Story& story) {
  const auto path = weft::test::find_data("data/gguf/" + story.logits_file);
  if (!path) return fail(ErrorCode::not_found, "The file {} is missing.", story.logits_file);
  const std::string bytes = weft::test::read_bytes(*path);
  story.logits.resize(bytes.size() / sizeof(float));
  std::memcpy(story.logits.data(), bytes.data(), bytes.size());
  return {};
}

// Reads the stories of one model file, such as "stories260K-f32.gguf".
inline Result<std::vector<Story>> read_stories(std::string_view model) {
  std::vector<Story> stories;
  const std::string text =
      weft::test::read_bytes(*weft::test::find_data("data/gguf/expected.json"));
  WEFT_ASSIGN(const json::Value root, json::parse(text));
  WEFT_ASSIGN(const json::Object document, root.object({"made_with", "logits", "cases"}));
  WEFT_ASSIGN(const json::Value cases, document.get("cases"));
  const auto read = [&](const json::Value& value) -> Result<> {
    WEFT_ASSIGN(Story story, read_story(value));
    if (story.model != model) return {};
    WEFT_OK(read_logits(story));
    stories.push_back(std::move(story));
    return {};
  };
  WEFT_OK(cases.for_each({}, read));
  return stories;
}

inline std::unique_ptr<OpenModel> stories_model(const std::string& name) {
  auto model = open_model(*weft::test::find_data("data/gguf/" + name));
  EXPECT_TRUE(model.has_value()) << model.error().message;
  return std::move(*model);
}

// The allowed distance from llama.cpp's logits. llama.cpp rounds activations to int8 for quantized
// weights and to f16 for f16 weights, which changes its logits; with f32 weights it does not round.
inline double logit_bound(const std::string& model) {
  return model.contains("f32") ? 1e-3 : model.contains("f16") ? 0.05 : 0.5;
}

inline Async<Result<>> tell(Engine& engine, Story story) {
  const double bound = logit_bound(story.model);
  WEFT_CO_ASSIGN(const SequenceId sequence, engine.open());
  for (std::size_t i = 0; i < story.prompt.size(); ++i) {
    WEFT_CO_OK(co_await engine.append(sequence, {story.prompt[i]}));
    WEFT_CO_ASSIGN(const std::vector<float> logits, co_await engine.logits(sequence));
    double error = 0;
    for (std::size_t t = 0; t < logits.size(); ++t)
      error = std::max(
          error, std::abs(static_cast<double>(logits[t]) - story.logits[i * logits.size() + t]));
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

}  // namespace weft::llm::test
