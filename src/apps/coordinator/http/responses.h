// Requests of POST /v1/responses, OpenAI's newer interface: items instead of messages, and a
// conversation that can be kept here and gone on with (response_store.h). Source of the shapes:
// OpenAI's API reference, "Responses". Unlike there "store" is false where it is not said. Refused
// by name: what would change the answer and is not supported (background, conversation, prompt,
// include, truncation "auto", logprobs, tools that are no functions, items that are neither text
// nor calls).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "apps/coordinator/http/openai.h"
#include "apps/coordinator/http/response_store.h"

namespace weft::coordinator {

struct ResponseRequest {
  std::string id;        // Its own, which cannot be guessed.
  std::string previous;  // previous_response_id; empty: a new conversation.
  std::string owner;     // As StoredResponse::owner.
  bool store = false;
  ResponseStore* kept = nullptr;  // Where it is put; outlives the answer.
  // Messages of the template, without brackets.
  std::string instructions;  // Not kept: the next turn brings its own.
  std::string messages;      // The conversation with this turn's input.
  // What the answer repeats, as JSON.
  std::string instructions_json = "null", tools_json = "[]", tool_choice_json = "\"auto\"",
              text_json = R"({"format":{"type":"text"}})", metadata_json = "{}";
  bool parallel = true;
  std::optional<std::uint32_t> tokens_max;
  std::string tools_member;  // The member of the prompt that holds the tools.
};

// Its prompt is not there before go_on() has been called. `seed` as in openai.h.
[[nodiscard]] Result<OpenAiRequest> read_response_request(std::string_view body,
                                                          std::uint64_t seed);
// The prompt, behind the conversation that `previous` ended; null: there is none before.
[[nodiscard]] Result<> go_on(OpenAiRequest& request, const StoredResponse* previous);

// Messages of a template, one behind the other, from what comes in items: the calls behind an
// answer's text are members of its message.
class ItemMessages {
 public:
  void add(std::string_view role, std::string_view content);
  // `arguments`: a JSON object.
  void add_call(std::string_view id, std::string_view name, std::string_view arguments);
  void add_result(std::string_view id, std::string_view content);
  // Separated by commas.
  [[nodiscard]] std::string take();

 private:
  void flush();
  void append(std::string_view message);

  std::string out_;
  std::optional<std::string> answer_;  // What an assistant said, until it is known what it called.
  std::string calls_;
};

}  // namespace weft::coordinator
