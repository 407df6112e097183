#include "engine/llm/answer_reader.h"

#include <algorithm>
#include <utility>

#include "engine/llm/answer_redraw.h"

namespace weft::llm {

bool AnswerReader::draws_masked(const GeneratorSlot& slot) const {
  const Request& request = slot.answer->request;
  const Sampling& sampling = request.sampling;
  const bool restricted =
      sampling.temperature > 0 && (sampling.top_k > 0 || sampling.top_p < 1 || sampling.min_p > 0);
  return engine_.takes_masks() && request.constraint && request.bias.empty() && request.top == 0 &&
         !restricted;
}

bool AnswerReader::keeps_hidden(const GeneratorSlot& slot) const {
  return slot.answer->request.on_hidden && engine_.keeps_hidden() &&
         (!slot.answer->is_shaped() || draws_masked(slot));
}

Async<Result<>> AnswerReader::replay(GeneratorSlot& slot) {
  const std::vector<Token>& answered = slot.answer->request.answered;
  slot.answer->skip_answered();
  const Request& request = slot.answer->request;
  if (request.on_redrawn && answered.size() >= request.tokens_max) co_return co_await redraw(slot);
  if (slot.answer->is_shaped() && answered.size() < request.tokens_max)
    co_return co_await replay_shaped(slot);
  // A text that is read only for its hidden states may be read in parts, because no token is drawn
  // after it whose logits would have to be the same to the last bit.
  const bool draws = answered.size() < request.tokens_max;
  const std::size_t part =
      draws && answered.size() <= options_.replay_max && !options_.exact_in_parts
          ? 1
          : options_.append_max;
  for (std::size_t done = 0; done < answered.size() && slot.answer->wanted();) {
    std::size_t count = std::min(part, answered.size() - done);
    if (request.on_hidden && !draws) {
      if (done % request.hidden_every == 0) WEFT_CO_OK(co_await tell_hidden(slot));
      count = std::min(count, request.hidden_every - done % request.hidden_every);
    }
    const auto from = answered.begin() + static_cast<std::ptrdiff_t>(done);
    const auto to = from + static_cast<std::ptrdiff_t>(count);
    WEFT_CO_OK(co_await engine_.append(slot.sequence, {from, to}));
    slot.tokens.insert(slot.tokens.end(), from, to);
    done += static_cast<std::size_t>(to - from);
  }
  co_return Result<>();
}

Async<Result<>> AnswerReader::redraw(GeneratorSlot& slot) {
  constexpr std::size_t rows_max = 16;  // Rows of logits in memory at a time.
  const Request& request = slot.answer->request;
  const std::vector<Token>& answered = request.answered;
  const std::size_t vocabulary = engine_.config().vocabulary;
  AnswerRedraw redraw(request, vocabulary_);
  WEFT_CO_ASSIGN(std::vector<float> logits, co_await engine_.logits(slot.sequence));
  for (std::size_t done = 0; done < answered.size() && slot.answer->wanted();) {
    std::size_t count =
        std::min({rows_max, std::size_t{options_.append_max}, answered.size() - done});
    if (request.on_hidden) {
      if (done % request.hidden_every == 0) WEFT_CO_OK(co_await tell_hidden(slot));
      count = std::min(count, request.hidden_every - done % request.hidden_every);
    }
    const auto from = answered.begin() + static_cast<std::ptrdiff_t>(done);
    std::vector<Token> part(from, from + static_cast<std::ptrdiff_t>(count));
    WEFT_CO_ASSIGN(const std::vector<float> behind,
                   co_await engine_.logits_along(slot.sequence, std::move(part)));
    for (std::size_t i = 0; i < count; ++i) {
      redraw.take(logits, slot.tokens, answered[done + i]);
      slot.tokens.push_back(answered[done + i]);
      const auto row = behind.begin() + static_cast<std::ptrdiff_t>(i * vocabulary);
      logits.assign(row, row + static_cast<std::ptrdiff_t>(vocabulary));
    }
    done += count;
  }
  if (slot.tokens.size() == slot.answer->given()) request.on_redrawn(redraw.doubtful());
  co_return Result<>();
}

// Reads the answer in the passes in which it was drawn. Each token is read together with the tokens
// that the constraint fixes after it or, if the engine draws under masks, before those tokens.
Async<Result<>> AnswerReader::replay_shaped(GeneratorSlot& slot) {
  const Request& request = slot.answer->request;
  const std::vector<Token>& answered = request.answered;
  std::size_t done = 0;
  const auto take_next = [&]() -> Result<> {
    if (request.constraint) WEFT_OK(request.constraint->accept(answered[done]));
    slot.tokens.push_back(answered[done++]);
    ++slot.unread;
    return {};
  };
  const auto take_fixed = [&]() -> Result<> {
    if (!request.constraint || request.top > 0) return {};
    for (const Token token : request.constraint->forced(forced_max)) {
      if (done == answered.size() || answered[done] != token) break;
      WEFT_OK(take_next());
    }
    return {};
  };
  const bool as_drawn = answered.size() <= options_.replay_max && !options_.exact_in_parts;
  WEFT_CO_OK(take_fixed());
  while (done < answered.size() && slot.answer->wanted()) {
    if (as_drawn) WEFT_CO_OK(co_await feed(slot, false));
    WEFT_CO_OK(take_next());
    // An engine that draws under masks read this token before the constraint fixed the next ones.
    if (as_drawn && draws_masked(slot)) WEFT_CO_OK(co_await feed(slot, false));
    WEFT_CO_OK(take_fixed());
  }
  co_return Result<>();
}

Async<Result<>> AnswerReader::feed(GeneratorSlot& slot, bool tells) {
  const Request& request = slot.answer->request;
  while (true) {
    const std::size_t read = slot.tokens.size() - slot.unread;
    const std::size_t done = read - request.prompt.size();
    if (tells && request.on_hidden && done % request.hidden_every == 0)
      WEFT_CO_OK(co_await tell_hidden(slot));
    if (slot.unread == 0) co_return Result<>();
    std::size_t count = std::min<std::size_t>(slot.unread, options_.append_max);
    if (request.on_hidden)
      count = std::min(count, request.hidden_every - done % request.hidden_every);
    const auto from = slot.tokens.begin() + static_cast<std::ptrdiff_t>(read);
    WEFT_CO_OK(
        co_await engine_.append(slot.sequence, {from, from + static_cast<std::ptrdiff_t>(count)}));
    slot.unread -= count;
  }
}

Async<Result<>> AnswerReader::tell_hidden(GeneratorSlot& slot) {
  RunningAnswer& answer = *slot.answer;
  const auto tokens =
      static_cast<std::uint32_t>(slot.tokens.size() - slot.unread - answer.request.prompt.size());
  if (!answer.request.on_hidden || answer.hidden_told == tokens) co_return Result<>();
  auto hidden = co_await engine_.last_hidden(slot.sequence);
  if (!hidden && hidden.error().code == ErrorCode::unsupported) {
    answer.request.on_hidden = {};
    co_return Result<>();
  }
  if (!hidden) co_return std::unexpected(hidden.error());
  answer.hidden_told = tokens;
  answer.request.on_hidden(tokens, *hidden);
  co_return Result<>();
}

}  // namespace weft::llm
