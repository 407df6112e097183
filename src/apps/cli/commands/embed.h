// `weft embed`: texts to vectors, by a model that embeds (bert, nomic-bert), on this machine or in
// a network.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/cli/network_models.h"

namespace weft::cli {

struct EmbedOptions {
  std::string model;                   // A GGUF file; of a network, a name, or empty: the only one.
  std::optional<std::string> file;     // A text a line; "-" is standard input.
  std::vector<std::string> texts;      // Without texts and file: standard input.
  std::uint32_t dimensions = 0;        // The first so many elements, at length 1 again; 0: all.
  bool base64 = false;                 // Vectors as little-endian f32 in base64.
  bool json = false;                   // One document, as OpenAI's /v1/embeddings answers.
  std::string device = "gpu";          // This machine's: "gpu" or "cpu".
  std::optional<std::size_t> adapter;  // The GPU's number; the best one without.
  bool network = false;                // The models of `at` make them.
  NetworkModelsOptions at{};
};

// A vector a line on standard output, its elements with spaces between. Gives the exit code.
int embed_command(const EmbedOptions& options);

}  // namespace weft::cli
