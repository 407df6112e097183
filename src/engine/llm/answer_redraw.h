// AnswerRedraw draws a whole answer again, token by token, and notes the tokens that its settings
// do not give (redraw.h): tokens that the grammar forbids, tokens that differ from the one that the
// grammar fixes, tokens after an end, and tokens that no draw gives within the distance between the
// logits of honest engines.
//
// Threading: one thread.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "common/base/result.h"
#include "engine/grammar/constraint.h"
#include "engine/llm/generation.h"
#include "engine/llm/redraw.h"
#include "engine/tokenizer/vocabulary.h"

namespace weft::llm {

class AnswerRedraw {
 public:
  // Takes settings, bias and grammar from the request, and advances the grammar to the end of the
  // answer. The request and the vocabulary outlive this object.
  AnswerRedraw(const Request& request, const tokenizer::Vocabulary& vocabulary)
      : request_(request), vocabulary_(vocabulary) {}

  // Takes the next token of the answer, with the raw logits after all tokens `before` it.
  void take(std::span<const float> logits, std::span<const Token> before, Token token);
  // Indices of the doubtful tokens in the answer, in ascending order.
  [[nodiscard]] const std::vector<std::uint32_t>& doubtful() const { return doubtful_; }

 private:
  // False if the settings do not give this token, or if no token is possible at this position.
  [[nodiscard]] bool is_given(std::span<const float> logits, std::span<const Token> before,
                              Token token);
  [[nodiscard]] bool is_drawn(std::span<const float> logits, std::span<const Token> before,
                              Token token);

  const Request& request_;
  const tokenizer::Vocabulary& vocabulary_;
  Redraw redraw_;
  std::vector<float> shaped_;
  std::deque<Token> fixed_;  // Tokens that the grammar fixes next, in order.
  bool was_drawn_ = true;    // True after a drawn token: the grammar may fix the next tokens.
  bool is_over_ = false;     // True if no token can follow, or the next cannot be checked.
  std::uint32_t count_ = 0;
  std::vector<std::uint32_t> doubtful_;
};

}  // namespace weft::llm
