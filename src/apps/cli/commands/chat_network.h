// `weft chat --network`: a conversation with a model of a network, line by line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "apps/cli/network_models.h"
#include "engine/llm/types.h"

namespace weft::cli {

struct NetworkChatOptions {
  NetworkModelsOptions network;
  std::string model;   // Name of the model; empty: the network's only one.
  std::string system;  // System message of the conversation; may be empty.
  std::uint32_t tokens_max = 1024;
  llm::Sampling sampling;
  std::optional<double> price_max;  // Credits for 1,000 tokens; a more expensive model is not used.
};

// Reads lines from standard input until its end and skips empty ones. Answers are streamed to
// standard output, and the statistics of each go to standard error. Ctrl-C ends the current answer,
// or else the program.
[[nodiscard]] int network_chat_command(const NetworkChatOptions& options);

}  // namespace weft::cli
