// `weft bench embed`: how fast a model makes vectors of texts on this machine, as a line or, with
// --json, one document. Texts are random tokens, all of one length, in one call; the value is
// tokens a second, the median of the rounds.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "apps/cli/embedding_model.h"

namespace weft::cli {

struct BenchEmbedOptions {
  EmbeddingModelOptions model;
  std::uint32_t texts = 32;    // Texts of a call.
  std::uint32_t tokens = 128;  // Tokens of a text.
  std::uint32_t rounds = 5;
  double warm_up_s = 0.5;  // Calls before it that do not count, at least one.
  bool json = false;
};

// The --json document. Names are part of the interface.
struct BenchEmbedResult {
  std::string model;  // The file's name.
  std::string test;   // "32x128": texts and tokens of each.
  double value = 0;
  std::string unit;
  double min = 0, max = 0;
  std::uint32_t rounds = 0;
  std::vector<double> values;  // One a round, in order.
  std::string architecture, device, activations;
  double load_s = 0;
};

// invalid_argument with the option's name if there is nothing to measure.
[[nodiscard]] Result<BenchEmbedResult> bench_embed(const BenchEmbedOptions& options);

// Prints the result to standard output and gives the exit code.
[[nodiscard]] int bench_embed_command(const BenchEmbedOptions& options);

}  // namespace weft::cli
