// Converts the input of a command to the model's tokens.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apps/cli/language_model.h"

namespace weft::cli {

struct ChatMessage {
  std::string role;
  std::string content;
};

// Encodes a text, with BOS if the model wants it; names of special tokens become those tokens.
[[nodiscard]] Result<std::vector<llm::Token>> encode_prompt(const LanguageModel& model,
                                                            std::string_view text);
// Encodes messages by the model's chat template, with the beginning of the assistant's answer.
[[nodiscard]] Result<std::vector<llm::Token>> encode_messages(
    const LanguageModel& model, const std::vector<ChatMessage>& messages);
// Encodes messages from a file: a JSON array of {"role", "content"}, or an object with that array
// as "messages" and further members that the template uses ("tools", "documents").
[[nodiscard]] Result<std::vector<llm::Token>> encode_messages(const LanguageModel& model,
                                                              const std::string& file);

// Fails with invalid_argument if the context has no room for an answer after the prompt; the
// message names the option that helps.
[[nodiscard]] Result<> check_fits(LanguageModel& model, const std::vector<llm::Token>& prompt);

}  // namespace weft::cli
