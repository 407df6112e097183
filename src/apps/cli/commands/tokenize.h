// `weft tokenize`: text to the ids of its tokens, or with --decode the other way.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace weft::cli {

struct TokenizeOptions {
  std::string model;                // A GGUF file; it may have no tensors.
  bool add_special = false;         // BOS and EOS, where the model wants them.
  bool parse_special = false;       // Special tokens written in the text are those tokens.
  bool decode = false;              // Ids in, bytes out.
  std::optional<std::string> file;  // Read byte for byte; "-" is standard input.
  std::vector<std::string> words;   // The text, or the ids. Without words and file: standard input.
};

// Ids go to standard output on one line; bytes exactly as they are. Gives the exit code.
int tokenize_command(const TokenizeOptions& options);

}  // namespace weft::cli
