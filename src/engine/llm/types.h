// The plain data between an engine and the code that generates with it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "common/base/result.h"

namespace weft::llm {

using Token = std::int32_t;  // Equals tokenizer::Token.

// The format of keys and values in the cache. f16 takes half the memory of f32; q8_0 (int8 with an
// f16 scale for every 32 numbers) takes about a quarter.
enum class KvFormat : std::uint8_t { f32, f16, q8_0 };
// The format of the activations that a matrix is multiplied with. int8 (rounded in blocks before
// every product) is faster and changes probabilities a little; f16 (by subgroup matrices, summed in
// f32) is for many sequences at once; f32 is used for all results that are compared.
enum class Activations : std::uint8_t { f32, int8, f16 };

[[nodiscard]] std::string_view to_string(KvFormat format);
[[nodiscard]] std::string_view to_string(Activations activations);
// The formats by the names that the command line uses.
[[nodiscard]] Result<KvFormat> kv_format_from(std::string_view name);
[[nodiscard]] Result<Activations> activations_from(std::string_view name);

// The layers [begin, end) of a model.
struct LayerRange {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

// The settings for drawing the next token. The steps are applied in this order, if they are set:
// penalties, top_k, top_p, min_p, temperature.
struct Sampling {
  float temperature = 0;    // 0 always takes the best token.
  std::uint32_t top_k = 0;  // Keeps only the k best tokens; 0 keeps all.
  float top_p = 1;          // Keeps the best tokens that together have this probability.
  float min_p = 0;  // Keeps tokens with at least this share of the best token's probability.
  // The penalties apply to the last penalty_window tokens, those of the prompt included.
  float repetition_penalty = 1;  // Divides a logit above 0; multiplies any other logit.
  float presence_penalty = 0;    // Subtracted from the logit of every token that occurs.
  float frequency_penalty = 0;   // Subtracted once for each time that the token occurs.
  std::uint32_t penalty_window = 64;
  std::uint64_t seed = 0;

  [[nodiscard]] bool has_penalties() const {
    return repetition_penalty != 1 || presence_penalty != 0 || frequency_penalty != 0;
  }
};
// Fails with invalid_argument and the option's name if a number is outside its range.
[[nodiscard]] Result<> check_sampling(const Sampling& sampling);

// A token and the natural logarithm of its probability, computed from the raw logits for every
// sampling.
struct Drawn {
  Token token = 0;
  float logprob = 0;
};

}  // namespace weft::llm
