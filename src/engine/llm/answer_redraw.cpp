#include "engine/llm/answer_redraw.h"

#include <utility>

namespace weft::llm {

void AnswerRedraw::take(std::span<const float> logits, std::span<const Token> before, Token token) {
  const bool given = !is_over_ && is_given(logits, before, token);
  if (!given && doubtful_.size() < redraw_doubts_max) doubtful_.push_back(count_);
  ++count_;
  if (is_over_) return;
  if (vocabulary_.ends_generation(token)) is_over_ = true;
  if (request_.constraint && !request_.constraint->accept(token)) is_over_ = true;
}

bool AnswerRedraw::is_given(std::span<const float> logits, std::span<const Token> before,
                            Token token) {
  grammar::Constraint* const constraint = request_.constraint.get();
  if (constraint != nullptr) {
    if (std::exchange(was_drawn_, false) && request_.top == 0) {
      const std::vector<Token> fixed = constraint->forced(forced_max);
      fixed_.assign(fixed.begin(), fixed.end());
    }
    if (!fixed_.empty()) {
      const Token next = fixed_.front();
      fixed_.pop_front();
      return token == next;
    }
    if (constraint->is_complete()) {
      is_over_ = true;
      return false;
    }
  }
  was_drawn_ = true;
  return is_drawn(logits, before, token);
}

bool AnswerRedraw::is_drawn(std::span<const float> logits, std::span<const Token> before,
                            Token token) {
  const double slack = logit_slack(logits, request_.redraw_error);
  if (!request_.constraint && request_.bias.empty())
    return redraw_.admits(request_.sampling, logits, slack, before, token);
  shaped_.assign(logits.begin(), logits.end());
  for (const TokenBias& one : request_.bias)
    shaped_[static_cast<std::size_t>(one.token)] += one.bias;
  if (request_.constraint && !request_.constraint->restrict(shaped_)) {
    is_over_ = true;
    return false;
  }
  return redraw_.admits(request_.sampling, shaped_, slack, before, token);
}

}  // namespace weft::llm
