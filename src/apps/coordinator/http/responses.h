// Reads requests of POST /v1/responses, OpenAI's newer interface: it has items instead of messages,
// and a conversation can be stored here and continued (response_store.h). Source of the formats:
// OpenAI's API reference, "Responses". A difference: "store" is false by default. Unsupported keys
// that would change the answer are refused by name (background, conversation, prompt, include,
// truncation "auto", logprobs, tools that are not functions, items that are neither text nor
// calls).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "apps/coordinator/http/openai.h"
#include "apps/coordinator/http/response_store.h"

namespace weft::coordinator {

struct ResponseRequest {
  std::string id;        // Random, so that it cannot be guessed.
  std::string previous;  // previous_response_id; empty: a new conversation.
  std::string owner;     // See StoredResponse::owner.
  bool store = false;
  ResponseStore* kept = nullptr;  // Store of responses, which outlives the answer.
  // Messages for the template, as elements of a JSON array without its brackets.
  std::string instructions;  // Not stored: each turn has instructions of its own.
  std::string messages;      // The conversation, including the input of this turn.
  // Values of the request that the response repeats, as JSON.
  std::string instructions_json = "null", tools_json = "[]", tool_choice_json = "\"auto\"",
              text_json = R"({"format":{"type":"text"}})", metadata_json = "{}";
  bool parallel = true;
  std::optional<std::uint32_t> tokens_max;
  std::string tools_member;  // The member of the template's input that has the tools.
};

// Reads a request. Its prompt is made later by go_on(). `seed` is used if the request has no seed.
[[nodiscard]] Result<OpenAiRequest> read_response_request(std::string_view body,
                                                          std::uint64_t seed);
// Makes the prompt: the conversation of `previous`, followed by this request's input. Null begins a
// new conversation.
[[nodiscard]] Result<> go_on(OpenAiRequest& request, const StoredResponse* previous);

// Builds the messages of a template from items. Calls that follow an answer's text become members
// of the answer's message.
class ItemMessages {
 public:
  void add(std::string_view role, std::string_view content);
  // `arguments` is a JSON object.
  void add_call(std::string_view id, std::string_view name, std::string_view arguments);
  void add_result(std::string_view id, std::string_view content);
  // Returns the messages, separated by commas.
  [[nodiscard]] std::string take();

 private:
  void flush();
  void append(std::string_view message);

  std::string out_;
  std::optional<std::string> answer_;  // The assistant's text, until its calls are known.
  std::string calls_;
};

}  // namespace weft::coordinator
