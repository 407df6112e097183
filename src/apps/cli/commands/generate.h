// `weft generate`: one answer of a language model on this machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/cli/language_model.h"
#include "engine/llm/types.h"

namespace weft::cli {

struct GenerateOptions {
  LanguageModelOptions model;
  std::string prompt;         // Special tokens written in it are those tokens.
  std::string messages_file;  // Instead of a prompt: a JSON array of {"role", "content"}, put into
                              // the model's chat template.
  std::uint32_t tokens_max = 128;
  llm::Sampling sampling;
  std::vector<std::string> stop;
  std::string grammar_file;    // GBNF that the answer is held to,
  std::string schema_file;     // or a JSON schema.
  std::uint32_t logprobs = 0;  // Best candidates to report for every token.
  bool json = false;           // One JSON document instead of the text as it comes.
};

[[nodiscard]] int generate_command(const GenerateOptions& options);

}  // namespace weft::cli
