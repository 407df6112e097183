// `weft bench llm`: how fast language models are on this machine, as a table or, with --json, one
// document of rows.
//
// Values are medians of the rounds. What the columns count: weights are bytes as they stand in the
// file (an engine may keep them in another format), each read once a step; the cache is what the
// test's positions fill; dispatches and submits are those of a step, which gives every sequence one
// token, and in a prefill those of a prompt's token.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "apps/bench/model_speed.h"

namespace weft::cli {

struct BenchLlmOptions {
  std::vector<std::string> models;  // GGUF files; those without a tokenizer too.
  LanguageModelOptions model;  // For all of them; device "cpu", "gpu" or a part of a GPU's name.
  SpeedTests tests;
  bool json = false;
};

// One row of the --json document. Names are part of the interface.
struct BenchLlmRow {
  std::string model;  // The file's name.
  std::string test;   // "load", "pp512", "tg256", "tg256@4096x8".
  double value = 0;
  std::string unit;  // "s", "token/s"
  double min = 0, max = 0;
  std::uint32_t rounds = 0;
  std::vector<double> values = {};  // One value a round, in order.
  std::string architecture, device, driver, activations, kv;
  std::uint32_t tokens = 0, depth = 0, sequences = 0;
  std::uint64_t weight_bytes = 0, cache_bytes = 0;
  double weight_gb_per_s = 0;
  double dispatches = 0, submits = 0;
};

// Measures every model and hands over each row as it is there; ends early, without an error, where
// `stop` says so.
[[nodiscard]] Result<> bench_llm(const BenchLlmOptions& options,
                                 const std::function<void(BenchLlmRow)>& on_row,
                                 const SpeedProgress& progress, const Stop& stop);
[[nodiscard]] std::string bench_llm_json(const std::vector<BenchLlmRow>& rows, bool interrupted);
[[nodiscard]] std::string bench_llm_table(const std::vector<BenchLlmRow>& rows);

// Prints the results to standard output, after Ctrl-C those that there are, and gives the exit
// code.
[[nodiscard]] int bench_llm_command(const BenchLlmOptions& options);

}  // namespace weft::cli
