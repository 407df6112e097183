// Measures prefill and decoding speed of a language model: rounds of equal work on any engine. The
// tokens are random, so files without a tokenizer or with random weights can be measured too.
//
// Threading: the model's thread. Measuring begins only after the device has stopped getting faster,
// because a GPU raises its clock from idle.
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
  std::uint32_t prompt = 512;                  // Tokens of a prefill; 0: no prefill test.
  std::uint32_t tokens = 256;                  // Tokens decoded in a round; 0: no decoding test.
  std::vector<std::uint32_t> depths = {0};     // Positions in the cache when decoding begins.
  std::vector<std::uint32_t> sequences = {1};  // Numbers of sequences decoded together.
  std::uint32_t rounds = 5;
  double warm_up_s = 0.75;  // Least seconds of one stretch of the warm-up.

  // The context and the sequences that the engine must have room for.
  [[nodiscard]] std::uint32_t context() const;
  [[nodiscard]] std::uint32_t sequences_max() const;
};
// Fails with invalid_argument, naming the option, if there is nothing to measure.
[[nodiscard]] Result<> check_tests(const SpeedTests& tests);

struct Speed {
  // "pp512" is a prefill of 512 tokens. "tg256" is the decoding of 256 tokens; "@4096" means after
  // 4096 positions, "x8" means 8 sequences together.
  std::string test;
  std::uint32_t tokens = 0;  // Tokens of a round, of all sequences together.
  std::uint32_t depth = 0;
  std::uint32_t sequences = 1;
  std::vector<double> rates;  // Tokens a second in each round.
  // Dispatches and submits of a decoding step, which gives each sequence one token, or of one token
  // of a prefill.
  double dispatches = 0;
  double submits = 0;

  [[nodiscard]] double median() const;
  [[nodiscard]] double least() const;
  [[nodiscard]] double most() const;
};

using SpeedProgress =
    std::function<void(std::string_view test, std::uint32_t round, std::uint32_t rounds)>;
using Stop = std::function<bool()>;

// Runs the tests one after another and passes each result to `on_speed`. Ends early if `stop`
// returns true; a test that has at least one round is still reported.
[[nodiscard]] Result<> measure_speed(LanguageModel& model, const SpeedTests& tests,
                                     const std::function<void(Speed)>& on_speed,
                                     const SpeedProgress& progress, const Stop& stop);

// The bytes of a model's file, the bytes of it that a decoding step of one sequence reads, and the
// cache bytes of `sequences` sequences with `positions` positions each.
[[nodiscard]] std::uint64_t weight_bytes(const LanguageModel& model);
[[nodiscard]] std::uint64_t weight_bytes_of_a_step(const LanguageModel& model);
[[nodiscard]] std::uint64_t cache_bytes(LanguageModel& model, std::uint32_t positions,
                                        std::uint32_t sequences);

}  // namespace weft::cli
