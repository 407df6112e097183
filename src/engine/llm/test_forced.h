// Measures the distance between the probabilities of two engines that read one text.
#pragma once

#include <cmath>
#include <vector>

#include "engine/llm/engine.h"
#include "engine/llm/sampler.h"

namespace weft::llm::test {

// Log-probabilities after every token but the last, [position][vocabulary]. The tokens are read one
// at a time, as they would be drawn. The first `prompt` tokens are read together, as a prompt is,
// and the result has no rows for them.
inline Async<Result<std::vector<float>>> forced_logprobs(Engine& engine, std::vector<Token> tokens,
                                                         std::size_t prompt = 0) {
  std::vector<float> out;
  WEFT_CO_ASSIGN(const SequenceId sequence, engine.open());
  if (prompt > 0) {
    std::vector<Token> first(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(prompt));
    WEFT_CO_OK(co_await engine.append(sequence, std::move(first)));
  }
  for (std::size_t i = prompt; i + 1 < tokens.size(); ++i) {
    std::vector<Token> one{tokens[i]};
    WEFT_CO_OK(co_await engine.append(sequence, std::move(one)));
    WEFT_CO_ASSIGN(const std::vector<float> logits, co_await engine.logits(sequence));
    const double total = log_sum_exp(logits);
    for (const float logit : logits) out.push_back(static_cast<float>(logit - total));
  }
  engine.close(sequence);
  co_return out;
}

struct Divergence {
  double mean = 0;      // Mean of the Kullback-Leibler divergence at every position, in nats.
  double same_top = 0;  // The share of positions at which both engines have the same best token.
};
inline Divergence divergence(const std::vector<float>& reference, const std::vector<float>& other,
                             std::size_t vocabulary) {
  Divergence out;
  const std::size_t positions = reference.size() / vocabulary;
  for (std::size_t p = 0; p < positions; ++p) {
    std::size_t best = 0, other_best = 0;
    for (std::size_t t = 0; t < vocabulary; ++t) {
      const double a = reference[p * vocabulary + t], b = other[p * vocabulary + t];
      out.mean += std::exp(a) * (a - b);
      if (reference[p * vocabulary + t] > reference[p * vocabulary + best]) best = t;
      if (other[p * vocabulary + t] > other[p * vocabulary + other_best]) other_best = t;
    }
    out.same_top += best == other_best ? 1 : 0;
  }
  out.mean /= static_cast<double>(positions);
  out.same_top /= static_cast<double>(positions);
  return out;
}

}  // namespace weft::llm::test
