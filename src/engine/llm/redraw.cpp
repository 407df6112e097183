#include "engine/llm/redraw.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "engine/llm/sampler.h"

namespace weft::llm {
namespace {

// The most that a Gumbel number of a GPU differs from the CPU's, because their logarithms differ in
// the last bits.
constexpr double gumbel_slack = 1e-3;
// The error bounds of masses and logarithms that are summed in f32.
constexpr double mass_slack = 1e-4, log_slack = 1e-4;

double penalized(double logit, const Sampling& sampling, std::uint32_t count) {
  if (count == 0) return logit;
  logit = logit > 0 ? logit / sampling.repetition_penalty : logit * sampling.repetition_penalty;
  return logit -
         (sampling.presence_penalty + static_cast<double>(count) * sampling.frequency_penalty);
}

}  // namespace

double logit_slack(std::span<const float> raw, double error) {
  double sum = 0, squares = 0;
  std::size_t count = 0;
  for (const float logit : raw) {
    if (!std::isfinite(logit)) continue;
    sum += logit;
    squares += static_cast<double>(logit) * logit;
    ++count;
  }
  if (count == 0) return 0;
  const double n = static_cast<double>(count), mean = sum / n;
  const double spread = std::sqrt(std::max(0.0, squares / n - mean * mean));
  constexpr double factor = 6;
  return factor * error * spread;
}

void Redraw::collect(const Sampling& sampling, std::span<const float> logits, double slack,
                     std::span<const Token> before) {
  std::unordered_map<Token, std::uint32_t> counts;
  if (sampling.has_penalties()) {
    const std::size_t window = std::min<std::size_t>(sampling.penalty_window, before.size());
    for (const Token token : before.last(window)) ++counts[token];
  }
  candidates_.clear();
  for (std::size_t i = 0; i < logits.size(); ++i) {
    // Skips impossible tokens; NaN counts as impossible, too.
    if (!(logits[i] > -INFINITY)) continue;
    const auto token = static_cast<Token>(i);
    const auto found = counts.find(token);
    const std::uint32_t count = found == counts.end() ? 0 : found->second;
    const double logit = logits[i];
    candidates_.push_back({.token = token,
                           .low = penalized(logit - slack, sampling, count),
                           .high = penalized(logit + slack, sampling, count)});
  }
}

// True if the restrictions keep the candidate for some logits in the box: the candidates that are
// better than it for all logits count with their lowest logit, all others with their highest.
bool Redraw::may_be_kept(const Sampling& sampling, const Candidate& one) const {
  std::size_t count = 0;
  double before = 0, behind = 0, best = -INFINITY;
  for (const Candidate& other : candidates_) {
    const bool better = other.low > one.high;
    count += better ? 1 : 0;
    (better ? before : behind) += std::exp((better ? other.low : other.high) - top_);
    best = std::max(best, other.low);
  }
  if (sampling.top_k > 0 && count >= sampling.top_k) return false;
  if (sampling.top_p < 1 && count > 0) {
    if (sampling.top_k > 0 && sampling.top_k < highs_.size())
      behind = std::min(behind, highs_[sampling.top_k - 1].mass);
    if (before >= static_cast<double>(sampling.top_p) * (before + behind) * (1 + mass_slack))
      return false;
  }
  return sampling.min_p <= 0 ||
         one.high >= best + std::log(static_cast<double>(sampling.min_p)) - log_slack;
}

// True if the restrictions keep the candidate for all logits in the box: the candidates that may be
// better than it count with their highest logit, all others with their lowest.
bool Redraw::is_surely_kept(const Sampling& sampling, const Candidate& one) const {
  const auto better = std::ranges::partition_point(
      highs_, [&](const Level& level) { return level.logit >= one.low; });
  // The candidates that may be better, and the candidate itself.
  const auto count = static_cast<std::size_t>(better - highs_.begin());
  if (sampling.top_k > 0 && count > sampling.top_k) return false;
  if (sampling.top_p < 1 && count > 1) {
    const double before = std::prev(better)->mass - std::exp(one.high - top_);
    double behind = std::exp(one.low - top_);
    if (sampling.top_k == 0) behind = std::max(behind, lows_.back().mass - lows_[count - 1].mass);
    if (before >= static_cast<double>(sampling.top_p) * (before + behind) * (1 - mass_slack))
      return false;
  }
  return sampling.min_p <= 0 ||
         one.low >= top_ + std::log(static_cast<double>(sampling.min_p)) + log_slack;
}

bool Redraw::admits(const Sampling& sampling, std::span<const float> logits, double slack,
                    std::span<const Token> before, Token token) {
  collect(sampling, logits, slack, before);
  if (candidates_.empty()) return token == 0;
  const auto own = std::ranges::find(candidates_, token, &Candidate::token);
  if (own == candidates_.end()) return false;
  if (sampling.temperature <= 0) {
    const double best = std::ranges::max(candidates_, {}, &Candidate::low).low;
    return own->high >= best;
  }
  const bool restricts = sampling.top_k > 0 || sampling.top_p < 1 || sampling.min_p > 0;
  if (restricts) {
    const auto sort_levels = [&](std::vector<Level>& levels, double Candidate::* bound) {
      levels.clear();
      for (const Candidate& one : candidates_) levels.push_back({.logit = one.*bound});
      std::ranges::sort(levels, std::greater(), &Level::logit);
      if (&levels == &highs_) top_ = levels.front().logit;
      double mass = 0;
      for (Level& level : levels) level.mass = mass += std::exp(level.logit - top_);
    };
    sort_levels(highs_, &Candidate::high);
    sort_levels(lows_, &Candidate::low);
    if (!may_be_kept(sampling, *own)) return false;
  }
  const auto position = static_cast<std::uint32_t>(before.size());
  const double temperature = sampling.temperature;
  const double score =
      own->high / temperature + gumbel(sampling.seed, position, token) + gumbel_slack;
  return std::ranges::none_of(candidates_, [&](const Candidate& one) {
    if (one.token == token) return false;
    const double other = one.low / temperature + gumbel(sampling.seed, position, one.token);
    return other > score && (!restricts || is_surely_kept(sampling, one));
  });
}

}  // namespace weft::llm
