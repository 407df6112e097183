#include "engine/llm/shaped_draws.h"

#include <algorithm>
#include <utility>

namespace weft::llm {

Async<Result<>> ShapedDraws::mask(GeneratorSlot& slot) {
  if (slot.unread > 0) WEFT_CO_OK(co_await reader_.feed(slot, true));
  RunningAnswer& answer = *slot.answer;
  const auto allowed = answer.request.constraint->allowed();
  if (!allowed) {
    progress_.fail(slot, allowed.error());
    co_return Result<>();
  }
  if (std::ranges::equal(answer.mask, *allowed)) co_return Result<>();
  answer.mask.assign(allowed->begin(), allowed->end());
  answer.mask_stays = 0;
  engine_.set_mask(slot.sequence, answer.mask);
  co_return Result<>();
}

Result<Drawn> ShapedDraws::sample(const GeneratorSlot& slot, std::span<const float> logits) {
  const Request& request = slot.answer->request;
  shaped_.assign(logits.begin(), logits.end());
  for (const TokenBias& one : request.bias)
    shaped_[static_cast<std::size_t>(one.token)] += one.bias;
  if (request.constraint) WEFT_OK(request.constraint->restrict(shaped_));
  const Token token = sampler_.choose(request.sampling, shaped_, slot.tokens,
                                      static_cast<std::uint32_t>(slot.tokens.size()));
  if (request.constraint) WEFT_OK(request.constraint->accept(token));
  // The log-probability is left out, because its sum over a large vocabulary takes as long as one
  // token of a small model.
  if (request.constraint && request.top == 0) return Drawn{token, 0};
  const double logprob = logits[static_cast<std::size_t>(token)] - log_sum_exp(logits);
  return Drawn{token, static_cast<float>(logprob)};
}

Async<Result<>> ShapedDraws::draw(GeneratorSlot& slot) {
  const std::uint32_t top = slot.answer->request.top;
  WEFT_CO_OK(co_await reader_.feed(slot, true));
  WEFT_CO_ASSIGN(const std::vector<float> logits, co_await engine_.logits(slot.sequence));
  const auto drawn = sample(slot, logits);
  if (!drawn) {
    progress_.fail(slot, drawn.error());
    co_return Result<>();
  }
  progress_.take_chosen(slot, *drawn, top > 0 ? best_tokens(logits, top) : std::vector<Drawn>());
  if (slot.answer && slot.answer->ending)
    WEFT_CO_OK(co_await progress_.finish(slot, *slot.answer->ending));
  co_return Result<>();
}

}  // namespace weft::llm
