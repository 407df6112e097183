// Parses the page's requests: the JSON that README.md lists. A missing key takes its default value;
// an unknown key is an error. Errors: invalid_argument with the place in the JSON.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "engine/llm/engine.h"
#include "engine/llm/generator.h"

namespace weft::llm_web {

enum class DeviceChoice : std::uint8_t { automatic, gpu, cpu };

struct LoadRequest {
  DeviceChoice device = DeviceChoice::automatic;
  llm::EngineOptions engine;
};
// Parses {"device", "kv", "activations", "context", "sequences"}, with which a model is loaded.
[[nodiscard]] Result<LoadRequest> parse_load(std::string_view json);

// Parses {"maxTokens", "temperature", "topK", "topP", "minP", "repetitionPenalty",
// "presencePenalty", "frequencyPenalty", "penaltyWindow", "seed", "stop", "logprobs"}. The caller
// fills in the prompt.
[[nodiscard]] Result<llm::Request> parse_generate(std::string_view json);

// Parses an array of token numbers, such as [1, 2, 3].
[[nodiscard]] Result<std::vector<llm::Token>> parse_tokens(std::string_view json);

}  // namespace weft::llm_web
