// `weft bench llm`: measures how fast language models are on this machine. Prints a table, or one
// JSON document with --json.
//
// Values are medians of the rounds. Weights are counted as bytes of the file, read once a step (an
// engine may keep them in another format). The cache is counted as the bytes that the test's
// positions fill. Dispatches and submits are those of a decoding step, which gives every sequence
// one token, or of one prompt token in a prefill.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "apps/bench/model_speed.h"

namespace weft::cli {

struct BenchLlmOptions {
  std::vector<std::string> models;  // GGUF files, with or without a tokenizer.
  LanguageModelOptions model;  // For all models; device "cpu", "gpu" or a part of a GPU's name.
  SpeedTests tests;
  bool json = false;
};

// One row of the --json document. The member names are part of the interface.
struct BenchLlmRow {
  std::string model;  // The model file's name.
  std::string test;   // "load", "pp512", "tg256", "tg256@4096x8".
  double value = 0;
  std::string unit;  // "s", "token/s"
  double min = 0, max = 0;
  std::uint32_t rounds = 0;
  std::vector<double> values = {};  // One value for each round, in order.
  std::string architecture, device, driver, activations, kv;
  std::uint32_t tokens = 0, depth = 0, sequences = 0;
  std::uint64_t weight_bytes = 0, cache_bytes = 0;
  double weight_gb_per_s = 0;
  double dispatches = 0, submits = 0;
};

// Measures every model and passes each row on when it is complete. Ends early, without an error, if
// `stop` returns true.
[[nodiscard]] Result<> bench_llm(const BenchLlmOptions& options,
                                 const std::function<void(BenchLlmRow)>& on_row,
                                 const SpeedProgress& progress, const Stop& stop);
[[nodiscard]] std::string bench_llm_json(const std::vector<BenchLlmRow>& rows, bool interrupted);
[[nodiscard]] std::string bench_llm_table(const std::vector<BenchLlmRow>& rows);

// Prints the results to standard output and returns the exit code. After Ctrl-C the results so far
// are printed.
[[nodiscard]] int bench_llm_command(const BenchLlmOptions& options);

}  // namespace weft::cli
