// What a command is given to read, as the model's tokens.
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

// Text as it is: BOS in front where the model wants one, special tokens by their names.
[[nodiscard]] Result<std::vector<llm::Token>> encode_prompt(const LanguageModel& model,
                                                            std::string_view text);
// Messages in the model's chat template, with the beginning of the assistant's answer.
[[nodiscard]] Result<std::vector<llm::Token>> encode_messages(
    const LanguageModel& model, const std::vector<ChatMessage>& messages);
// The same from a file: a JSON array of {"role", "content"}, or an object with that as "messages"
// and what else the template knows ("tools", "documents").
[[nodiscard]] Result<std::vector<llm::Token>> encode_messages(const LanguageModel& model,
                                                              const std::string& file);

// invalid_argument, naming the option that helps, where no answer fits behind the prompt.
[[nodiscard]] Result<> check_fits(LanguageModel& model, const std::vector<llm::Token>& prompt);

}  // namespace weft::cli
