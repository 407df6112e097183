#include "engine/llm/sampler.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <unordered_map>

#include "common/base/check.h"

namespace weft::llm {
namespace {

// Mixes the bits of a number: one round of the PCG output function.
std::uint32_t mix(std::uint32_t value) {
  value = value * 747796405u + 2891336453u;
  const std::uint32_t word = ((value >> ((value >> 28) + 4)) ^ value) * 277803737u;
  return (word >> 22) ^ word;
}

bool better(float a_logit, Token a, float b_logit, Token b) {
  return a_logit != b_logit ? a_logit > b_logit : a < b;
}

std::uint32_t hash_of(std::uint64_t seed, std::uint32_t position, Token token) {
  const auto low = static_cast<std::uint32_t>(seed), high = static_cast<std::uint32_t>(seed >> 32);
  return mix(mix(mix(mix(low) ^ high) ^ position) ^ static_cast<std::uint32_t>(token));
}

float gumbel_of(std::uint32_t hash) {
  // v is uniform in (0, 1); small values of v, which decide draws, are exact. -log(1 - v) is
  // exponential, and -log of an exponential number is a Gumbel number.
  const float v = (static_cast<float>(hash) + 0.5f) * 0x1p-32f;
  const float exponential =
      v < 0.01f ? v * (1 + v * (0.5f + v * (1.0f / 3))) : -std::log(std::max(1 - v, 0x1p-25f));
  return -std::log(exponential);
}

// The token with the highest logit, found without a list of candidates; nullopt if no token is
// possible.
std::optional<Token> best_of_all(std::span<const float> logits) {
  std::optional<Token> best;
  float best_logit = -INFINITY;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    if (logits[i] > best_logit) {  // The comparison is false for NaN.
      best_logit = logits[i];
      best = static_cast<Token>(i);
    }
  }
  return best;
}

// The token with the largest logit / temperature + Gumbel noise, which is a draw from the softmax;
// nullopt if no token is possible. The logarithms of the noise are computed only if the noise can
// decide: its number v is at least 2^-(zeros + 1), so that the noise is at most ln(2) (zeros + 1).
std::optional<Token> drawn_of_all(const Sampling& sampling, std::span<const float> logits,
                                  std::uint32_t position) {
  std::optional<Token> best;
  float best_score = -INFINITY;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    if (!(logits[i] > -INFINITY)) continue;
    const auto token = static_cast<Token>(i);
    const float scaled = logits[i] / sampling.temperature;
    const std::uint32_t hash = hash_of(sampling.seed, position, token);
    // An upper bound of the rounding error of the sum.
    const float slack = 1e-3f + std::abs(scaled) * 1e-6f;
    const float most = scaled + 0.693148f * static_cast<float>(std::countl_zero(hash) + 1) + slack;
    if (best && most < best_score) continue;
    const float score = scaled + gumbel_of(hash);
    if (!best || score > best_score) {
      best_score = score;
      best = token;
    }
  }
  return best;
}

}  // namespace

float gumbel(std::uint64_t seed, std::uint32_t position, Token token) {
  return gumbel_of(hash_of(seed, position, token));
}

double log_sum_exp(std::span<const float> logits) {
  float top = -INFINITY;
  for (const float logit : logits) top = std::max(top, logit);
  double sum = 0;
  for (const float logit : logits) {
    if (!std::isnan(logit)) sum += std::exp(static_cast<double>(logit) - top);
  }
  return top + std::log(sum);
}

std::vector<Drawn> best_tokens(std::span<const float> logits, std::size_t count) {
  std::vector<Drawn> all(logits.size());
  for (std::size_t i = 0; i < logits.size(); ++i)
    all[i] = {static_cast<Token>(i), std::isnan(logits[i]) ? -INFINITY : logits[i]};
  count = std::min(count, all.size());
  std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count), all.end(),
                    [](const Drawn& a, const Drawn& b) {
                      return better(a.logprob, a.token, b.logprob, b.token);
                    });
  all.resize(count);
  const double total = log_sum_exp(logits);
  for (Drawn& drawn : all) drawn.logprob = static_cast<float>(drawn.logprob - total);
  return all;
}

void Sampler::penalize(const Sampling& sampling, std::span<const Token> before) {
  const std::size_t window = std::min<std::size_t>(sampling.penalty_window, before.size());
  std::unordered_map<Token, std::uint32_t> counts;
  for (const Token token : before.last(window)) ++counts[token];
  for (const auto& [token, count] : counts) {
    if (token < 0 || static_cast<std::size_t>(token) >= logits_.size()) continue;
    float& logit = logits_[static_cast<std::size_t>(token)];
    logit = logit > 0 ? logit / sampling.repetition_penalty : logit * sampling.repetition_penalty;
    logit -= sampling.presence_penalty + static_cast<float>(count) * sampling.frequency_penalty;
  }
}

// Sorts the candidates as far as needed and drops those that top_k, top_p and min_p exclude; at
// least one stays.
void Sampler::restrict(const Sampling& sampling) {
  const auto order = [](const Candidate& a, const Candidate& b) {
    return better(a.logit, a.token, b.logit, b.token);
  };
  if (sampling.top_k > 0 && sampling.top_k < candidates_.size()) {
    const auto end = candidates_.begin() + sampling.top_k;
    std::nth_element(candidates_.begin(), end - 1, candidates_.end(), order);
    candidates_.erase(end, candidates_.end());
  }
  const float top = std::ranges::max(candidates_, {}, &Candidate::logit).logit;
  if (sampling.top_p < 1) {
    std::ranges::sort(candidates_, order);
    double total = 0;
    for (const Candidate& candidate : candidates_)
      total += std::exp(static_cast<double>(candidate.logit) - top);
    double sum = 0;
    std::size_t kept = 0;
    while (kept < candidates_.size() && (kept == 0 || sum < sampling.top_p * total)) {
      sum += std::exp(static_cast<double>(candidates_[kept].logit) - top);
      ++kept;
    }
    candidates_.resize(kept);
  }
  if (sampling.min_p > 0) {
    const float least = top + std::log(sampling.min_p);
    std::erase_if(candidates_, [&](const Candidate& candidate) { return candidate.logit < least; });
  }
}

Drawn Sampler::draw(const Sampling& sampling, std::span<const float> logits,
                    std::span<const Token> before, std::uint32_t position) {
  const Token token = choose(sampling, logits, before, position);
  if (!any_) return {};
  const double logprob = logits[static_cast<std::size_t>(token)] - log_sum_exp(logits);
  return {token, static_cast<float>(logprob)};
}

Token Sampler::choose(const Sampling& sampling, std::span<const float> logits,
                      std::span<const Token> before, std::uint32_t position) {
  check(!logits.empty(), "there are tokens to draw from");
  if (sampling.has_penalties()) {
    logits_.assign(logits.begin(), logits.end());
    penalize(sampling, before);
    logits = logits_;
  }
  std::optional<Token> token;
  if (sampling.temperature <= 0) {
    token = best_of_all(logits);
  } else if (sampling.top_k == 0 && sampling.top_p >= 1 && sampling.min_p <= 0) {
    token = drawn_of_all(sampling, logits, position);
  } else {
    token = drawn_of_best(sampling, logits, position);
  }
  any_ = token.has_value();
  return token.value_or(0);
}

std::optional<Token> Sampler::drawn_of_best(const Sampling& sampling, std::span<const float> logits,
                                            std::uint32_t position) {
  candidates_.clear();
  for (std::size_t i = 0; i < logits.size(); ++i) {
    if (logits[i] > -INFINITY)
      // The comparison is false for NaN.
      candidates_.push_back({logits[i], static_cast<Token>(i)});
  }
  if (candidates_.empty()) return std::nullopt;
  restrict(sampling);
  // The candidate with the largest logit / temperature + Gumbel noise is a draw from the softmax.
  Token best = candidates_.front().token;
  float best_score = -INFINITY;
  for (const Candidate& candidate : candidates_) {
    const float score =
        candidate.logit / sampling.temperature + gumbel(sampling.seed, position, candidate.token);
    if (better(score, candidate.token, best_score, best)) {
      best_score = score;
      best = candidate.token;
    }
  }
  return best;
}

}  // namespace weft::llm
