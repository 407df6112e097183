// What the page asks for, read from the JSON that README.md lists. A key that is missing has its
// default; an unknown one is an error. Errors: invalid_argument with the place.
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
// {"device", "kv", "activations", "context", "sequences"}
[[nodiscard]] Result<LoadRequest> parse_load(std::string_view json);

// {"maxTokens", "temperature", "topK", "topP", "minP", "repetitionPenalty", "presencePenalty",
// "frequencyPenalty", "penaltyWindow", "seed", "stop", "logprobs"}; the prompt is filled in by the
// caller.
[[nodiscard]] Result<llm::Request> parse_generate(std::string_view json);

// [1, 2, 3]
[[nodiscard]] Result<std::vector<llm::Token>> parse_tokens(std::string_view json);

}  // namespace weft::llm_web
