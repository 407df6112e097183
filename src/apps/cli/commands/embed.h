// `weft embed`: converts texts to vectors with an embedding model (bert, nomic-bert), on this
// machine or in a network.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/cli/network_models.h"

namespace weft::cli {

struct EmbedOptions {
  std::string model;  // A GGUF file, or with `network` the name of a model (empty: its only one).
  std::optional<std::string> file;  // File with one text a line; "-" is standard input.
  std::vector<std::string> texts;   // Texts; empty without a file: standard input.
  std::uint32_t dimensions = 0;     // Number of elements to keep, rescaled to length 1; 0: all.
  bool base64 = false;              // Prints vectors as base64 of little-endian f32.
  bool json = false;                // Prints one document in the form of OpenAI's /v1/embeddings.
  std::string device = "gpu";       // Device of this machine: "gpu" or "cpu".
  std::optional<std::size_t> adapter;  // Number of the GPU; default: the best one.
  bool network = false;                // The models of the network `at` compute the vectors.
  NetworkModelsOptions at{};
};

// Prints one vector a line, with spaces between the elements. Returns the exit code.
int embed_command(const EmbedOptions& options);

}  // namespace weft::cli
