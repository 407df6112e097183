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
  std::string prompt;  // Prompt; names of special tokens become these tokens.
  // Instead of a prompt: a JSON array of {"role", "content"} for the model's chat template.
  std::string messages_file;
  std::uint32_t tokens_max = 128;
  llm::Sampling sampling;
  std::vector<std::string> stop;
  std::string grammar_file;    // File with a GBNF grammar of the answer.
  std::string schema_file;     // File with a JSON schema of the answer.
  std::uint32_t logprobs = 0;  // Number of best candidates to report for each token.
  bool json = false;           // Prints one JSON document instead of streamed text.
};

[[nodiscard]] int generate_command(const GenerateOptions& options);

}  // namespace weft::cli
