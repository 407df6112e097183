// Draws a whole answer again, token by token, and notes those that its settings do not give
// (redraw.h): what a grammar forbids, what it fixes otherwise, what follows behind an end, and what
// the draw does not give within the distance that honest engines' logits are apart.
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
  // Reads from the request its settings, bias and grammar, which it reads to its end. Both outlive
  // this.
  AnswerRedraw(const Request& request, const tokenizer::Vocabulary& vocabulary)
      : request_(request), vocabulary_(vocabulary) {}

  // The next token of the answer, and the raw logits behind all tokens `before` it.
  void take(std::span<const float> logits, std::span<const Token> before, Token token);
  // Numbers of tokens of the answer, ascending.
  [[nodiscard]] const std::vector<std::uint32_t>& doubtful() const { return doubtful_; }

 private:
  // False where no token can stand here.
  [[nodiscard]] bool is_given(std::span<const float> logits, std::span<const Token> before,
                              Token token);
  [[nodiscard]] bool is_drawn(std::span<const float> logits, std::span<const Token> before,
                              Token token);

  const Request& request_;
  const tokenizer::Vocabulary& vocabulary_;
  Redraw redraw_;
  std::vector<float> shaped_;
  std::deque<Token> fixed_;  // What the grammar leaves no choice about, next first.
  bool was_drawn_ = true;    // The last token was: the grammar may fix what follows.
  bool is_over_ = false;     // Nothing can follow, or what does cannot be read.
  std::uint32_t count_ = 0;
  std::vector<std::uint32_t> doubtful_;
};

}  // namespace weft::llm
