// Shared by the readers of OpenAI-compatible requests: bounded members of documents, sampling
// settings, and constraints of the answer. Errors are those of common/json and name their place.
// Private to this folder.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "apps/coordinator/http/openai.h"
#include "common/json/json.h"

namespace weft::coordinator::reading {

// The bound of answers without a bound of their own. It is above every model's context.
inline constexpr std::uint32_t tokens_default = 1u << 20;
inline constexpr std::uint32_t top_max = 20;
inline constexpr std::size_t body_bytes_max = std::size_t{4} << 20;

using Members = std::map<std::string, json::Value>;

// The members of an object; members with the value null are left out.
[[nodiscard]] Result<Members> members_of(const json::Value& value);
// The read_*() functions leave `out` unchanged if the key is missing.
[[nodiscard]] Result<> read_number(const Members& members, const std::string& key, double min,
                                   double max, double& out);
[[nodiscard]] Result<> read_count(const Members& members, const std::string& key, std::uint32_t min,
                                  std::uint32_t max, std::uint32_t& out);
[[nodiscard]] Result<> read_flag(const Members& members, const std::string& key, bool& out);

// Reads "max_price", "deadline_ms" and "fallback" of a request into `out`.
[[nodiscard]] Result<> read_terms(const Members& members, OpenAiRequest& out);
// Reads the model, "stream", and the sampling settings from "temperature" to "logit_bias".
[[nodiscard]] Result<OpenAiRequest> read_drawing(const Members& members, const json::Value& root,
                                                 std::uint64_t seed);
// Constrains the answer to the format in `type` ("text", "json_object" or "json_schema"); the key
// "schema" is read from `schema_in`.
[[nodiscard]] Result<> hold_to_format(const json::Value& type, const json::Value& schema_in,
                                      OpenAiRequest& out);

// The tools of a request in the form of chat completions, and the wish to call one.
struct ToolWish {
  std::string list{};    // Tools as a JSON array; empty without tools.
  std::string word{};    // "none", "auto", "required".
  std::string name{};    // Name of the function to call; empty: any.
  bool parallel = true;  // The answer may call several tools.
};
// Takes the tools into `out` and returns the template's member for them, or an empty text. `choice`
// is the request's value with the wish, for errors; null if it has none.
[[nodiscard]] Result<std::string> take_tools(const ToolWish& wish, const json::Value* choice,
                                             OpenAiRequest& out);

// A message's content as one text; the texts of several parts are joined.
[[nodiscard]] Result<std::string> content_of(const json::Value& content);
// Checks a call's arguments, the text of a JSON object, and returns them for the template.
[[nodiscard]] Result<std::string> arguments_of(const json::Value& text);
// Mixes the next message's `text` into the hash of the conversation, which is recognised by its
// first two messages because they are equal in all its turns.
void mix_conversation(std::uint64_t& conversation, std::string_view text);

// The most bytes that a prompt and its rule may have together as JSON.
inline constexpr std::size_t frame_text_max = std::size_t{704} << 10;
// Checks that a request to a worker fits into one frame. A frame escapes quotation marks once more,
// and also holds the tokens of an answer that another worker began.
[[nodiscard]] Result<> check_frame(const OpenAiRequest& request, const json::Value& where);

}  // namespace weft::coordinator::reading
