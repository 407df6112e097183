// Requests of the OpenAI-compatible interface: POST /v1/chat/completions and /v1/completions, read into what the desk asks.
// Source of the shapes: OpenAI's API reference, "Chat Completions" and "Completions (legacy)". Keys that are unknown are ignored, as
// clients send what they like; those that would change the answer and are not supported are refused.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "apps/coordinator/serving/desk.h"
#include "service/net/http.h"

namespace weft::coordinator {

struct OpenAiRequest {
  bool chat = true;
  std::string model;
  bool stream = false;
  bool include_usage = false;
  bool logprobs = false;
  std::uint32_t choices = 1;         // n, for each prompt.
  std::vector<std::string> prompts;  // Of chat: one, what the template is rendered with.
  protocol::serving::Ask ask;        // All but the prompt.
  bool names_bound = false;          // It says how many tokens it wants at most.
  std::uint64_t conversation = 0;    // See AnswerRequest.
};

// `seed` is used where the request has none.
[[nodiscard]] Result<OpenAiRequest> read_chat_request(std::string_view body, std::uint64_t seed);
[[nodiscard]] Result<OpenAiRequest> read_completion_request(std::string_view body, std::uint64_t seed);

// {"error": {"message", "type", "param", "code"}} with the status that OpenAI's clients expect; 429 and 503 say when to come back.
[[nodiscard]] net::Reply openai_error(const Error& error);
[[nodiscard]] std::string openai_error_json(const Error& error);

// "text" as a JSON string.
[[nodiscard]] std::string json_string(std::string_view text);

}  // namespace weft::coordinator
