// What the readers of OpenAI-compatible requests share: members of documents within bounds, how an
// answer is drawn and what it is held to. Errors are those of common/json, which name their place.
// Private to this folder.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "apps/coordinator/http/openai.h"
#include "common/json/json.h"

namespace weft::coordinator::reading {

inline constexpr std::uint32_t tokens_default = 1u << 20;  // As many as the context takes.
inline constexpr std::uint32_t top_max = 20;
inline constexpr std::size_t body_bytes_max = std::size_t{4} << 20;

using Members = std::map<std::string, json::Value>;

// null stands for "not given".
[[nodiscard]] Result<Members> members_of(const json::Value& value);
// These leave `out` as it is where the key is not given.
[[nodiscard]] Result<> read_number(const Members& members, const std::string& key, double min,
                                   double max, double& out);
[[nodiscard]] Result<> read_count(const Members& members, const std::string& key, std::uint32_t min,
                                  std::uint32_t max, std::uint32_t& out);
[[nodiscard]] Result<> read_flag(const Members& members, const std::string& key, bool& out);

// "max_price", "deadline_ms" and "fallback".
[[nodiscard]] Result<> read_terms(const Members& members, OpenAiRequest& out);
// model, stream, and how the answer is drawn: temperature to logit_bias.
[[nodiscard]] Result<OpenAiRequest> read_drawing(const Members& members, const json::Value& root,
                                                 std::uint64_t seed);
// Holds the answer to `kind` ("text", "json_object", "json_schema"), which stands in `type`;
// `schema_in` is where the key "schema" is looked for.
[[nodiscard]] Result<> hold_to_format(const json::Value& type, const json::Value& schema_in,
                                      OpenAiRequest& out);

// Tools in the form of chat completions, and whether the answer is to call one.
struct ToolWish {
  std::string list{};    // A JSON array; empty without entries.
  std::string word{};    // "none", "auto", "required".
  std::string name{};    // The function that is to be called; empty: any.
  bool parallel = true;  // It may call several.
};
// The member of the prompt, or nothing. `choice` is where the wish stands; null: nowhere.
[[nodiscard]] Result<std::string> take_tools(const ToolWish& wish, const json::Value* choice,
                                             OpenAiRequest& out);

// A message's content as one text: parts with a "text", one behind the other.
[[nodiscard]] Result<std::string> content_of(const json::Value& content);
// A call's arguments as templates take them: the text of a JSON object.
[[nodiscard]] Result<std::string> arguments_of(const json::Value& text);
// Two messages of a conversation are the same in every turn: `text` is the next one.
void mix_conversation(std::uint64_t& conversation, std::string_view text);

// Length of a prompt and the rule beside it, as JSON.
inline constexpr std::size_t frame_text_max = std::size_t{704} << 10;
// What a worker is asked with is one frame, in which quotation marks are escaped once more; beside
// it stand the tokens of an answer that another worker began.
[[nodiscard]] Result<> check_frame(const OpenAiRequest& request, const json::Value& where);

}  // namespace weft::coordinator::reading
