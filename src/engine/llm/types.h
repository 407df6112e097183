// The plain data between an engine and the code that generates with it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "common/base/result.h"

namespace weft::llm {

using Token = std::int32_t;  // As tokenizer::Token.

// How keys and values are kept. f16 halves the cache; q8_0 (int8 with an f16 scale for 32 numbers)
// quarters it.
enum class KvFormat : std::uint8_t { f32, f16, q8_0 };
// What a matrix is multiplied with. int8 (rounded in blocks before every product) is for speed and
// moves probabilities a little; f16 (by subgroup matrices, summed in f32) is for many sequences at
// once; wherever results are compared it is f32.
enum class Activations : std::uint8_t { f32, int8, f16 };

[[nodiscard]] std::string_view to_string(KvFormat format);
[[nodiscard]] std::string_view to_string(Activations activations);
// By the names that the command line uses.
[[nodiscard]] Result<KvFormat> kv_format_from(std::string_view name);
[[nodiscard]] Result<Activations> activations_from(std::string_view name);

// Layers [begin, end) of a model.
struct LayerRange {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

// How the next token is drawn. In this order, each where it is asked for: penalties, top_k, top_p,
// min_p, temperature.
struct Sampling {
  float temperature = 0;    // 0: always the best token.
  std::uint32_t top_k = 0;  // Only the k best; 0: all.
  float top_p = 1;          // Only the best that together have this probability.
  float min_p = 0;  // Only those at least this probable, measured in the best one's probability.
  // Over the last penalty_window tokens, those of the prompt included.
  float repetition_penalty = 1;  // Logits above 0 are divided by it, others multiplied.
  float presence_penalty = 0;    // Taken from the logit of every token that occurs.
  float frequency_penalty = 0;   // The same, once for each time that it occurs.
  std::uint32_t penalty_window = 64;
  std::uint64_t seed = 0;

  [[nodiscard]] bool has_penalties() const {
    return repetition_penalty != 1 || presence_penalty != 0 || frequency_penalty != 0;
  }
};
// invalid_argument with the option's name where a number is out of its range.
[[nodiscard]] Result<> check_sampling(const Sampling& sampling);

// A token and the natural logarithm of its probability by the raw logits, whatever the sampling.
struct Drawn {
  Token token = 0;
  float logprob = 0;
};

}  // namespace weft::llm
