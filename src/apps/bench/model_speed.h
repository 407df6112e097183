// How fast a language model is read into and drawn from: rounds of the same work on any engine,
// with random tokens, so that files without a tokenizer or with random weights will do.
//
// Threading: the model's thread. Nothing is timed before the device has worked for so long that it
// grows no quicker, since a GPU's clock climbs from idle.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/cli/language_model.h"
#include "common/base/result.h"

namespace weft::cli {

struct SpeedTests {
  std::uint32_t prompt = 512;                  // Tokens of a prefill; 0 for no such test.
  std::uint32_t tokens = 256;                  // Drawn in a round of decoding; 0 for no such test.
  std::vector<std::uint32_t> depths = {0};     // Positions before the drawn tokens.
  std::vector<std::uint32_t> sequences = {1};  // Drawn together.
  std::uint32_t rounds = 5;
  double warm_up_s = 0.75;  // Stretches of untimed work, two at least.

  // What the engine must have room for.
  [[nodiscard]] std::uint32_t context() const;
  [[nodiscard]] std::uint32_t sequences_max() const;
};
// invalid_argument with the option's name if there is nothing to measure.
[[nodiscard]] Result<> check_tests(const SpeedTests& tests);

struct Speed {
  std::string test;  // "pp512": a prefill of 512 tokens; "tg256", "tg256@4096", "tg256@4096x8":
                     // draws at a depth, of several sequences.
  std::uint32_t tokens = 0;  // Tokens of a round, all sequences together.
  std::uint32_t depth = 0;
  std::uint32_t sequences = 1;
  std::vector<double> rates;  // Tokens a second of every round.
  // For a step, which gives each sequence one token; for a prefill, for each of its tokens.
  double dispatches = 0;
  double submits = 0;

  [[nodiscard]] double median() const;
  [[nodiscard]] double least() const;
  [[nodiscard]] double most() const;
};

using SpeedProgress =
    std::function<void(std::string_view test, std::uint32_t round, std::uint32_t rounds)>;
using Stop = std::function<bool()>;

// Runs the tests one after another and hands each to `on_speed`. Where `stop` says so it ends
// early: a test that has at least one round is handed over with what it has.
[[nodiscard]] Result<> measure_speed(LanguageModel& model, const SpeedTests& tests,
                                     const std::function<void(Speed)>& on_speed,
                                     const SpeedProgress& progress, const Stop& stop);

// Bytes of a model's file that one step of drawing reads for one sequence, and of the cache for so
// many positions of each sequence.
[[nodiscard]] std::uint64_t weight_bytes(const LanguageModel& model);
[[nodiscard]] std::uint64_t weight_bytes_of_a_step(const LanguageModel& model);
[[nodiscard]] std::uint64_t cache_bytes(LanguageModel& model, std::uint32_t positions,
                                        std::uint32_t sequences);

}  // namespace weft::cli
