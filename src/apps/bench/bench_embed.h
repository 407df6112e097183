// `weft bench embed`: measures how fast a model makes vectors of texts on this machine. Prints a
// line, or one JSON document with --json. All texts of a call are random tokens of the same length.
// The value is in tokens a second, the median of the rounds.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "apps/cli/embedding_model.h"

namespace weft::cli {

struct BenchEmbedOptions {
  EmbeddingModelOptions model;
  std::uint32_t texts = 32;    // Number of texts in one call.
  std::uint32_t tokens = 128;  // Length of a text in tokens.
  std::uint32_t rounds = 5;
  double warm_up_s = 0.5;  // Seconds of uncounted calls before the rounds.
  bool json = false;
};

// The --json document. The member names are part of the interface.
struct BenchEmbedResult {
  std::string model;  // The model file's name.
  std::string test;   // "32x128": texts and tokens of each.
  double value = 0;
  std::string unit;
  double min = 0, max = 0;
  std::uint32_t rounds = 0;
  std::vector<double> values;  // One value for each round, in order.
  std::string architecture, device, activations;
  double load_s = 0;
};

// Runs the benchmark. Fails with invalid_argument, naming the option, if there is nothing to
// measure.
[[nodiscard]] Result<BenchEmbedResult> bench_embed(const BenchEmbedOptions& options);

// Prints the result to standard output and returns the exit code.
[[nodiscard]] int bench_embed_command(const BenchEmbedOptions& options);

}  // namespace weft::cli
