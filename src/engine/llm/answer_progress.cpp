#include "engine/llm/answer_progress.h"

#include <chrono>
#include <utility>

namespace weft::llm {
namespace {

using Clock = RunningAnswer::Clock;

double seconds(Clock::duration duration) { return std::chrono::duration<double>(duration).count(); }

}  // namespace

void AnswerProgress::fail(GeneratorSlot& slot, const Error& error) {
  const auto failed = slots_.abandon(slot);
  queue_.on_end();
  failed->on_done(std::unexpected(error));
}

void AnswerProgress::end(GeneratorSlot& slot, StopReason reason) {
  const auto answer = slots_.release(slot);
  queue_.on_end();
  if (reason != StopReason::stop && reason != StopReason::cancelled) {
    (void)answer->say(answer->stops.push(answer->decoder.finish()));
    (void)answer->say(answer->stops.finish());
  }
  Generation& generation = answer->generation;
  generation.stop = reason;
  generation.sequence = static_cast<std::uint32_t>(slot.sequence);
  if (generation.tokens.empty()) answer->first = Clock::now();
  generation.prefill_s = seconds(answer->first - answer->begun);
  generation.decode_s = seconds(Clock::now() - answer->first);
  answer->tell();
  answer->on_done(std::move(generation));
}

Async<Result<>> AnswerProgress::finish(GeneratorSlot& slot, StopReason reason) {
  if (slot.answer->request.on_hidden) WEFT_CO_OK(co_await reader_.feed(slot, true));
  WEFT_CO_OK(co_await reader_.tell_hidden(slot));
  end(slot, reason);
  co_return Result<>();
}

void AnswerProgress::take(GeneratorSlot& slot, const Drawn& drawn, std::vector<Drawn> top) {
  RunningAnswer& answer = *slot.answer;
  Generation& generation = answer.generation;
  if (generation.tokens.empty()) answer.first = Clock::now();
  slot.tokens.push_back(drawn.token);
  generation.tokens.push_back(
      {.id = drawn.token, .text = {}, .logprob = drawn.logprob, .top = std::move(top)});
  const auto ends = [&](StopReason reason) {
    answer.request.on_hidden ? (void)(answer.ending = reason) : end(slot, reason);
  };
  if (vocabulary_.ends_generation(drawn.token)) return ends(StopReason::eos);

  GeneratedToken& token = generation.tokens.back();
  token.text = answer.text_of(drawn.token);
  if (!answer.say(answer.stops.push(token.text))) return end(slot, StopReason::cancelled);
  if (answer.stops.found()) return ends(StopReason::stop);
  if (answer.length() >= answer.request.tokens_max ||
      slot.tokens.size() >= engine_.options().context)
    return ends(StopReason::length);
  answer.tell();
}

Result<> AnswerProgress::take_fixed(GeneratorSlot& slot) {
  const auto goes_on = [&slot] { return slot.answer && !slot.answer->ending; };
  if (!goes_on()) return {};
  const auto constraint = slot.answer->request.constraint;
  if (!constraint) return {};
  if (slot.answer->request.top == 0) {
    for (const Token token : constraint->forced(forced_max)) {
      WEFT_OK(constraint->accept(token));
      ++slot.unread;
      take(slot, {.token = token, .logprob = 0}, {});
      if (!goes_on()) return {};
    }
  }
  if (!constraint->is_complete()) return {};
  if (slot.answer->request.on_hidden) {
    slot.answer->ending = StopReason::eos;
  } else {
    end(slot, StopReason::eos);
  }
  return {};
}

bool AnswerProgress::take_forced(GeneratorSlot& slot) {
  const auto taken = take_fixed(slot);
  if (!taken) fail(slot, taken.error());
  return taken.has_value();
}

void AnswerProgress::take_chosen(GeneratorSlot& slot, const Drawn& drawn, std::vector<Drawn> top) {
  ++slot.unread;
  take(slot, drawn, std::move(top));
  (void)take_forced(slot);
}

void AnswerProgress::tell_kept(GeneratorSlot& slot) {
  RunningAnswer& answer = *slot.answer;
  const auto tokens = static_cast<std::uint32_t>(slot.tokens.size() - answer.request.prompt.size());
  if (!answer.ending && tokens % answer.request.hidden_every != 0) return;
  const auto hidden =
      engine_.take_hidden(slot.sequence, static_cast<std::uint32_t>(slot.tokens.size()));
  if (!hidden || answer.hidden_told == tokens) return;
  answer.hidden_told = tokens;
  answer.request.on_hidden(tokens, *hidden);
}

Async<Result<>> AnswerProgress::take_drawn(GeneratorSlot& slot, const Drawn& drawn,
                                           std::vector<Drawn> top) {
  if (reader_.keeps_hidden(slot)) {
    tell_kept(slot);
    // The answer had ended already: this token was drawn only because the draw brings the hidden
    // state after the answer's last token.
    if (slot.answer->ending) {
      end(slot, *slot.answer->ending);
      co_return Result<>();
    }
  }
  take(slot, drawn, std::move(top));
  if (!slot.answer || !slot.answer->ending) co_return Result<>();
  // A shaped answer draws no more tokens, because none may follow what its constraint completes.
  const bool draws_once_more = reader_.keeps_hidden(slot) && !slot.answer->is_shaped() &&
                               slot.tokens.size() < engine_.options().context;
  if (!draws_once_more) co_return co_await finish(slot, *slot.answer->ending);
  engine_.keep_hidden(slot.sequence, static_cast<std::uint32_t>(slot.tokens.size()), 1);
  co_return Result<>();
}

Async<Result<>> AnswerProgress::take_masked(GeneratorSlot& slot, Token token) {
  if (const auto taken = slot.answer->request.constraint->accept(token); !taken) {
    fail(slot, taken.error());
    co_return Result<>();
  }
  ++slot.answer->mask_stays;
  WEFT_CO_OK(co_await take_drawn(slot, {.token = token, .logprob = 0}, {}));
  if (!slot.answer) co_return Result<>();
  (void)take_forced(slot);
  if (slot.answer && slot.answer->ending) WEFT_CO_OK(co_await finish(slot, *slot.answer->ending));
  co_return Result<>();
}

}  // namespace weft::llm
