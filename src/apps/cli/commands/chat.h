// `weft chat`: a conversation with a language model on this machine, line by line.
#pragma once

#include <cstdint>
#include <string>

#include "apps/cli/language_model.h"
#include "engine/llm/types.h"

namespace weft::cli {

struct ChatOptions {
  LanguageModelOptions model;
  std::string system;  // System message of the conversation; may be empty.
  std::uint32_t tokens_max = 1024;
  llm::Sampling sampling;
};

// Reads lines from standard input until its end and skips empty ones.
[[nodiscard]] int chat_command(const ChatOptions& options);

}  // namespace weft::cli
