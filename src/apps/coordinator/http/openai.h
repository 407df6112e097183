// Reads requests of the OpenAI-compatible interface: POST /v1/chat/completions and /v1/completions
// (/v1/responses: see responses.h). Source of the formats: OpenAI's API reference, "Chat
// Completions" and "Completions (legacy)". Unknown keys are ignored, because clients send many.
// Known keys that would change the answer but are not supported are refused.
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

struct ResponseRequest;   // The part of a request that responses.h defines.
struct EmbeddingRequest;  // The part of a request that embeddings.h defines.

// The header x-weft-trust: which workers may answer, and whether the answer waits for its audit.
enum class AnswerTrust : std::uint8_t { all, established, verified };
// Reads the word of the header x-weft-trust. Fails with invalid_argument for any other word.
[[nodiscard]] Result<AnswerTrust> read_answer_trust(std::string_view word);

struct OpenAiRequest {
  bool chat = true;
  std::string model;
  bool stream = false;
  bool include_usage = false;
  bool logprobs = false;
  std::uint32_t choices = 1;         // "n": answers to each prompt.
  std::vector<std::string> prompts;  // Prompts; a chat has one, the input of its template.
  protocol::serving::Ask ask;        // The desk's request, without its prompt.
  std::uint32_t top = 0;             // Number of likely candidates shown for each token.
  tools::Tools tools;                // Tools that the answer may call.
  bool shows_calls = false;          // The text contains the tokens that mark tool calls.
  TextLook look{};
  std::string held_by;             // The request's key that constrains the answer.
  bool names_bound = false;        // The request bounds the number of answer tokens.
  std::uint64_t conversation = 0;  // See AnswerRequest::conversation.
  std::uint64_t asker = 0;         // See AnswerRequest::asker.
  // The highest accepted price of 1,000 tokens. A model that costs more is not asked.
  std::optional<MicroCredits> price_max{};
  std::optional<Duration> patience{};  // See AnswerRequest::patience.
  bool allows_fallback = false;        // A fallback endpoint may answer if the network cannot.
  // Passes the request to a fallback endpoint; `why` is the reason for which the network cannot
  // answer. Empty if no fallback may answer.
  std::function<void(const Error& why, net::Respond respond)> otherwise{};
  std::optional<AnswerTrust> trust{};  // Wanted trust; empty: the coordinator's default.
  // The part that only /v1/responses has; null for other routes.
  std::shared_ptr<ResponseRequest> response{};
  // The part that only /v1/embeddings has; null for other routes.
  std::shared_ptr<EmbeddingRequest> embedding{};

  // The number of prompts. Each of them has `choices` answers.
  [[nodiscard]] std::size_t prompt_count() const;
};

// `seed` is used if the request has no seed.
[[nodiscard]] Result<OpenAiRequest> read_chat_request(std::string_view body, std::uint64_t seed);
[[nodiscard]] Result<OpenAiRequest> read_completion_request(std::string_view body,
                                                            std::uint64_t seed);

// The input of a chat template as JSON. `messages` has no brackets; `tools` is empty or a member
// with a comma before it.
[[nodiscard]] std::string chat_prompt(std::string_view messages, std::string_view tools);
// Changes a chat_prompt() so that the template does not add the beginning of the answer's turn.
[[nodiscard]] std::string chat_prompt_without_turn(std::string prompt);

// An error reply {"error": {"message", "type", "param", "code"}} with the status that OpenAI's
// clients expect. 429 and 503 have the header retry-after. An empty `param` becomes the key that
// the message names. `trust` is the result of an answer that was to be verified; it appears under
// "weft" unless empty.
[[nodiscard]] net::Reply openai_error(const Error& error, std::string_view param = {},
                                      std::string_view trust = {});
[[nodiscard]] std::string openai_error_json(const Error& error, std::string_view param = {},
                                            std::string_view trust = {});

}  // namespace weft::coordinator
