// `weft bench serving`: measures the cost of spreading a language model over workers of this
// machine, with real processes: `weft serve`, `weft work --device cpu` (or GPUs in turn) on
// loopback, `weft model add --shards N`, and requests over HTTP. Values are medians of the rounds.
//
// Rows:
//
// - `shards/N` compares tokens a second with the same engine inside this process.
// - `relay` compares the coordinator's relay with direct links.
// - `wire/f16` and `wire/i8` compare smaller activation frames with f32.
// - `concurrent` compares eight requests at a time with one.
// - `cards/N` compares N requests at a time on a chain of two workers with one worker.
// - `hop/tcp` compares the round trip of 10 KB over a link between two workers (TLS) and over a
//   plain socket, in turn.
// - `grammar` compares a client whose answer follows a grammar with one whose answer does not.
// - `grammar/others` measures how much a client with a grammar slows seven others in its batch.
// - `clients/N` compares tokens a second of N concurrent clients, including their prompts, with an
//   engine that reads as many prompts and decodes N sequences together.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/base/result.h"

namespace weft::cli {

struct BenchServingOptions {
  std::filesystem::path model;    // A GGUF file with a tokenizer; empty: the tests' small model.
  std::vector<std::string> only;  // Rows to run, by name or prefix; empty: all.
  std::uint32_t tokens = 128;     // Length of an answer in tokens.
  std::uint32_t rounds = 5;
  std::uint32_t hops = 2000;           // Number of round trips in a round.
  std::vector<std::uint32_t> clients;  // Runs only the rows clients/N for these N.
  std::uint32_t model_memory_mb = 0;   // A worker's memory for models; 0: its default.
  std::uint32_t requests_each = 2;     // Requests of each client in a round.
  std::uint32_t prompt_words = 64;     // A word has about two or three tokens.
  std::string arrivals = "closed";     // "poisson": random, at 80 % of the rate of the warm-up.
  std::string activations = "f32";    // Activations of the served model and of the compared engine.
  std::vector<std::size_t> adapters;  // GPUs that the workers use in turn; empty: the CPU.
  bool json = false;
};

// One row of the --json document. The member names are part of the interface.
struct BenchServingRow {
  std::string name;
  double value = 0;
  std::string unit;
  std::string peer;  // The variant with which the row is compared.
  double peer_value = 0;
  double ratio = 0;  // value / peer_value.
  std::string goal;
  bool reached = false;
  double min = 0, max = 0, peer_min = 0, peer_max = 0;
  std::uint32_t rounds = 0;
  std::string note;
};

// Round trips of 10 KB over a direct link of two workers and over a plain socket, each in
// microseconds.
struct HopTimes {
  std::vector<double> line_us, raw_us;
};
[[nodiscard]] Result<HopTimes> measure_hops(const std::filesystem::path& scratch,
                                            std::uint32_t hops);

// Prints the results to standard output and returns the exit code.
[[nodiscard]] int bench_serving_command(const BenchServingOptions& options);

}  // namespace weft::cli
