// Draws tokens from logits on the CPU. Without memory: the randomness is a function of seed,
// position and token, so that the same seed gives the same tokens however the work is cut, and a
// GPU can do the same.
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
  // The token that stands at `position`, after the tokens `before` (their last penalty_window
  // matter). logits is not empty. NaNs count as impossible; where everything is impossible it is
  // token 0.
  [[nodiscard]] Drawn draw(const Sampling& sampling, std::span<const float> logits,
                           std::span<const Token> before, std::uint32_t position);
  // The same without its log-probability, which takes longer than choosing from few candidates.
  [[nodiscard]] Token choose(const Sampling& sampling, std::span<const float> logits,
                             std::span<const Token> before, std::uint32_t position);

 private:
  struct Candidate {
    float logit;
    Token token;
  };
  void penalize(const Sampling& sampling, std::span<const Token> before);
  void restrict(const Sampling& sampling);
  // Where only some of the best tokens count; nullopt if no token is possible.
  std::optional<Token> drawn_of_best(const Sampling& sampling, std::span<const float> logits,
                                     std::uint32_t position);

  std::vector<float> logits_;
  std::vector<Candidate> candidates_;
  bool any_ = false;  // Whether the last choice had a token that is possible.
};

// log(sum(exp(logits))); a token's logprob is its logit less this.
[[nodiscard]] double log_sum_exp(std::span<const float> logits);

// The `count` best tokens with their log-probabilities, best first; equals by token.
[[nodiscard]] std::vector<Drawn> best_tokens(std::span<const float> logits, std::size_t count);

// A standard Gumbel number for (seed, position, token); the same arithmetic runs on the GPU.
[[nodiscard]] float gumbel(std::uint64_t seed, std::uint32_t position, Token token);

}  // namespace weft::llm
