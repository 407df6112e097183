// `weft chat --network`: a conversation with a model of a network, a line at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "apps/cli/network_models.h"
#include "engine/llm/types.h"

namespace weft::cli {

struct NetworkChatOptions {
  NetworkModelsOptions network;
  std::string model;   // Its name; empty: the only one.
  std::string system;  // What the model is told before anything else; may be empty.
  std::uint32_t tokens_max = 1024;
  llm::Sampling sampling;
  std::optional<double>
      price_max;  // Credits for 1,000 tokens; a more expensive model is not asked.
};

// Reads lines from standard input until its end; empty ones are passed over. Answers go to standard
// output as they come, and figures of each to standard error. Ctrl-C ends an answer, and if
// there is none, the program.
[[nodiscard]] int network_chat_command(const NetworkChatOptions& options);

}  // namespace weft::cli
