// `weft tokenize`: converts text to token ids, or with --decode token ids to text.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace weft::cli {

struct TokenizeOptions {
  std::string model;                // A GGUF file; its tensors are not needed.
  bool add_special = false;         // Adds BOS and EOS if the model wants them.
  bool parse_special = false;       // Names of special tokens in the text become these tokens.
  bool decode = false;              // Converts ids to bytes instead of text to ids.
  std::optional<std::string> file;  // File that is read byte for byte; "-" is standard input.
  // The text or the ids; standard input if there is neither `words` nor a file.
  std::vector<std::string> words;
};

// Prints ids on one line, or bytes exactly as they are. Returns the exit code.
int tokenize_command(const TokenizeOptions& options);

}  // namespace weft::cli
