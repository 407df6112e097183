// Requests of the OpenAI-compatible interface: POST /v1/chat/completions and /v1/completions, read
// into what the desk asks; /v1/responses is in responses.h. Source of the shapes: OpenAI's API
// reference, "Chat Completions" and "Completions (legacy)". Keys that are unknown are ignored, as
// clients send what they like; those that would change the answer and are not supported are
// refused.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/coordinator/http/model_texts.h"
#include "common/tools/answer_parser.h"
#include "decisions/inference/desk.h"
#include "platform/net/http.h"

namespace weft::coordinator {

struct ResponseRequest;   // responses.h
struct EmbeddingRequest;  // embeddings.h

// The header x-weft-trust: which workers may answer, and whether the answer waits for its audit.
enum class AnswerTrust : std::uint8_t { all, established, verified };
// invalid_argument for any other word.
[[nodiscard]] Result<AnswerTrust> read_answer_trust(std::string_view word);

struct OpenAiRequest {
  bool chat = true;
  std::string model;
  bool stream = false;
  bool include_usage = false;
  bool logprobs = false;
  std::uint32_t choices = 1;         // n, for each prompt.
  std::vector<std::string> prompts;  // For a chat, one: what the template is rendered with.
  protocol::serving::Ask ask;        // All but the prompt.
  std::uint32_t top = 0;             // Candidates that are shown for each token.
  tools::Tools tools;                // That the answer may call.
  bool shows_calls = false;          // Tokens that mark calls of tools are a part of its text.
  TextLook look{};
  std::string held_by;             // The key that says what the answer is held to.
  bool names_bound = false;        // It says how many tokens it wants at most.
  std::uint64_t conversation = 0;  // See AnswerRequest.
  std::uint64_t asker = 0;         // See AnswerRequest.
  // What 1,000 tokens may cost; a model that costs more is not asked.
  std::optional<MicroCredits> price_max{};
  std::optional<Duration> patience{};  // See AnswerRequest.
  bool allows_fallback = false;        // Another endpoint may answer if the network cannot.
  // Where it may: answers in the network's place, which cannot for this reason.
  std::function<void(const Error& why, net::Respond respond)> otherwise{};
  std::optional<AnswerTrust> trust{};  // Nothing: as the coordinator is reached.
  // What is peculiar to /v1/responses; null for other routes.
  std::shared_ptr<ResponseRequest> response{};
  // The same for /v1/embeddings.
  std::shared_ptr<EmbeddingRequest> embedding{};

  // Prompts, of which each has `choices` answers.
  [[nodiscard]] std::size_t prompt_count() const;
};

// `seed` is used where the request has none.
[[nodiscard]] Result<OpenAiRequest> read_chat_request(std::string_view body, std::uint64_t seed);
[[nodiscard]] Result<OpenAiRequest> read_completion_request(std::string_view body,
                                                            std::uint64_t seed);

// What a template is rendered with: `messages` without the brackets, `tools` as a member with its
// comma.
[[nodiscard]] std::string chat_prompt(std::string_view messages, std::string_view tools);
// The same without the beginning of the answer's turn.
[[nodiscard]] std::string chat_prompt_without_turn(std::string prompt);

// {"error": {"message", "type", "param", "code"}} with the status that OpenAI's clients expect; 429
// and 503 say when to come back. Without `param` it is the key that the message names. `trust`:
// what became of an answer that was to be verified; said under `weft`, unless empty.
[[nodiscard]] net::Reply openai_error(const Error& error, std::string_view param = {},
                                      std::string_view trust = {});
[[nodiscard]] std::string openai_error_json(const Error& error, std::string_view param = {},
                                            std::string_view trust = {});

}  // namespace weft::coordinator
