// Decides whether the tokens that another engine drew are those that its settings give. An auditor
// reads the prompt and the answer with its own engine and draws each token again with the same
// seed, position and settings. The auditor's logits differ a little from the other engine's, as the
// logits of two honest engines do. A token is admissible if the draw gives it for some logits that
// are within this small distance of the auditor's.
//
//   const double slack = logit_slack(raw_logits, error);
//   redraw.admits(sampling, shaped_logits, slack, before, token)
//
// The set of such logits is a box: each logit may be up to `slack` more or less. admits() is never
// false for a token that some point of the box gives. It may be true for a token that no point of
// the box gives, if top_k, top_p or min_p cut close to the token.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/llm/types.h"

namespace weft::llm {

// The distance between a logit and that of another honest engine if their hidden states may differ
// by `error`, as proof::FingerprintTolerance measures it. docs/proof.md derives the factor.
[[nodiscard]] double logit_slack(std::span<const float> raw, double error);

class Redraw {
 public:
  // True if the settings may give the token. `logits` include biases and are -infinity for tokens
  // that a grammar forbids. `before` are all tokens of the sequence so far; their number is the
  // position.
  [[nodiscard]] bool admits(const Sampling& sampling, std::span<const float> logits, double slack,
                            std::span<const Token> before, Token token);

 private:
  struct Candidate {
    Token token = 0;
    double low = 0, high = 0;  // The lower and upper bound of the token's logit.
  };
  void collect(const Sampling& sampling, std::span<const float> logits, double slack,
               std::span<const Token> before);
  [[nodiscard]] bool may_be_kept(const Sampling& sampling, const Candidate& one) const;
  [[nodiscard]] bool is_surely_kept(const Sampling& sampling, const Candidate& one) const;

  std::vector<Candidate> candidates_;
  // The logit of a candidate with a running sum of exp(logit - top_), for the checks of top_p.
  struct Level {
    double logit = 0;
    double mass = 0;  // The sum over this candidate and all above it.
  };
  std::vector<Level> lows_, highs_;  // The candidates' lower and upper bounds, best first.
  double top_ = 0;                   // The largest upper bound of all candidates.
};

}  // namespace weft::llm
