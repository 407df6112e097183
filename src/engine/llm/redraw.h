// Whether tokens that another engine drew are those that its settings give. An auditor reads prompt
// and answer with its own engine and draws each token again: with the same seed, position and
// settings. Its logits differ a little from the other engine's, as two honest engines' do. A token
// is admissible if the draw gives it for some logits that are within that distance of the
// auditor's.
//
//   const double slack = logit_slack(raw_logits, error);
//   redraw.admits(sampling, shaped_logits, slack, before, position, token)
//
// The set of such logits is a box: each logit may be up to `slack` more or less. The answer is
// never no for a token that some point of the box gives; it may be yes for one that only nearly is
// given, where top_k, top_p or min_p cut close to it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/llm/types.h"

namespace weft::llm {

// How far a logit may be from another honest engine's, where hidden states may be `error` apart, as
// proof::FingerprintTolerance measures it. docs/proof.md derives the factor.
[[nodiscard]] double logit_slack(std::span<const float> raw, double error);

class Redraw {
 public:
  // `logits`: with biases, and -infinity where a grammar forbids a token. `before`: all tokens of
  // the sequence so far, whose number is the position.
  [[nodiscard]] bool admits(const Sampling& sampling, std::span<const float> logits, double slack,
                            std::span<const Token> before, Token token);

 private:
  struct Candidate {
    Token token = 0;
    double low = 0, high = 0;  // Between which its logit is.
  };
  void collect(const Sampling& sampling, std::span<const float> logits, double slack,
               std::span<const Token> before);
  [[nodiscard]] bool may_be_kept(const Sampling& sampling, const Candidate& one) const;
  [[nodiscard]] bool is_surely_kept(const Sampling& sampling, const Candidate& one) const;

  std::vector<Candidate> candidates_;
  // Over all candidates: sums of exp(logit - top_), sorted for the questions above.
  struct Level {
    double logit = 0;
    double mass = 0;  // That of this one and all above it.
  };
  std::vector<Level> lows_, highs_;  // By their lower and upper bounds, best first.
  double top_ = 0;                   // The largest upper bound.
};

}  // namespace weft::llm
