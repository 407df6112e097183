// Draws tokens from logits on the CPU. It keeps no state: the randomness is a function of seed,
// position and token. The same seed therefore gives the same tokens however the work is divided,
// and a GPU can draw the same tokens.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "engine/llm/types.h"

namespace weft::llm {

class Sampler {
 public:
  // Draws the token for `position`, after the tokens `before`, of which the last penalty_window
  // matter. `logits` is not empty. A NaN counts as impossible; if every token is impossible, the
  // result is token 0.
  [[nodiscard]] Drawn draw(const Sampling& sampling, std::span<const float> logits,
                           std::span<const Token> before, std::uint32_t position);
  // Draws as draw() does, without the log-probability, which takes longer than a choice among few
  // candidates.
  [[nodiscard]] Token choose(const Sampling& sampling, std::span<const float> logits,
                             std::span<const Token> before, std::uint32_t position);

 private:
  struct Candidate {
    float logit;
    Token token;
  };
  void penalize(const Sampling& sampling, std::span<const Token> before);
  void restrict(const Sampling& sampling);
  // Draws if the settings keep only some of the best tokens; nullopt if no token is possible.
  std::optional<Token> drawn_of_best(const Sampling& sampling, std::span<const float> logits,
                                     std::uint32_t position);

  std::vector<float> logits_;
  std::vector<Candidate> candidates_;
  bool any_ = false;  // True if the last choice had a possible token.
};

// log(sum(exp(logits))). The log-probability of a token is its logit less this.
[[nodiscard]] double log_sum_exp(std::span<const float> logits);

// The `count` best tokens with their log-probabilities, best first; of equal tokens the one with
// the smaller number is first.
[[nodiscard]] std::vector<Drawn> best_tokens(std::span<const float> logits, std::size_t count);

// Returns a standard Gumbel number for (seed, position, token). A GPU computes it with the same
// arithmetic.
[[nodiscard]] float gumbel(std::uint64_t seed, std::uint32_t position, Token token);

}  // namespace weft::llm
