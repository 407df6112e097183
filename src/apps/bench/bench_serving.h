// `weft bench serving`: what it costs to spread a language model over workers of this machine, with
// real processes: `weft serve`, `weft work --device cpu` (or GPUs, by turns) on loopback, `weft
// model add --shards N`, and requests over HTTP.
//
// Rows `shards/N` compare tokens a second with the same engine in this process, with nothing
// between; `relay` the coordinator's relay with direct lines, `wire/f16` and `wire/i8` fewer bytes
// a hop with f32, `concurrent` eight requests at a time with one. `hop/tcp` takes 10 KB there and
// back over a line between two workers (TLS) and over a bare socket, by turns. Medians of the
// rounds.
//
// `grammar` is one client whose answer is held to a grammar, beside one without; `grammar/others`
// what such a client costs seven others in its batch.
//
// `clients/N` compares the tokens a second of N clients at a time, prompts of their own included,
// with the engine that reads as many prompts and draws N sequences together.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/base/result.h"

namespace weft::cli {

struct BenchServingOptions {
  std::filesystem::path model;  // A GGUF file with a tokenizer; empty: the small one of the tests.
  std::vector<std::string> only;  // Names of rows, or their beginnings; empty: all.
  std::uint32_t tokens = 128;     // Tokens of an answer.
  std::uint32_t rounds = 5;
  std::uint32_t hops = 2000;           // Hops in a round.
  std::vector<std::uint32_t> clients;  // Rows clients/N: so many at a time, instead of the others.
  std::uint32_t model_memory_mb = 0;   // Memory of a worker for models; 0: its default.
  std::uint32_t requests_each = 2;     // Requests of each client, in a round.
  std::uint32_t prompt_words = 64;     // About two or three tokens each.
  std::string arrivals = "closed";     // "poisson": at random, at 80 % of what clients/N reached.
  std::string activations = "f32";    // Activations of what is served, and of the engine beside it.
  std::vector<std::size_t> adapters;  // GPUs' numbers: the n-th worker has the n-th, over and over;
                                      // empty: the processor.
  bool json = false;
};

// One row of the --json document. Names are part of the interface.
struct BenchServingRow {
  std::string name;
  double value = 0;
  std::string unit;
  std::string peer;  // What it is compared with.
  double peer_value = 0;
  double ratio = 0;  // value / peer_value.
  std::string goal;
  bool reached = false;
  double min = 0, max = 0, peer_min = 0, peer_max = 0;
  std::uint32_t rounds = 0;
  std::string note;
};

// 10 KB there and back over a direct line of two workers, and over a socket without anything:
// microseconds of every round trip.
struct HopTimes {
  std::vector<double> line_us, raw_us;
};
[[nodiscard]] Result<HopTimes> measure_hops(const std::filesystem::path& scratch,
                                            std::uint32_t hops);

// Prints the results to standard output and gives the exit code.
[[nodiscard]] int bench_serving_command(const BenchServingOptions& options);

}  // namespace weft::cli
