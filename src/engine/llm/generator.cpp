#include "engine/llm/generator.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "common/base/check.h"

namespace weft::llm {
namespace {

// draw_and_read() lets the device read on while a mask is computed, but each draw waits a little
// for its mask. Draws that are made ahead, before their mask is known, do not wait, but are lost if
// the mask changes. They therefore begin once the mask has stayed the same for mask_stays_min
// tokens, and only ahead_of_masks of them are made, which is enough to keep the device busy.
constexpr std::uint32_t mask_stays_min = 32, ahead_of_masks = 3;

}  // namespace

std::string_view to_string(StopReason reason) {
  switch (reason) {
    case StopReason::eos:
      return "eos";
    case StopReason::length:
      return "length";
    case StopReason::stop:
      return "stop";
    case StopReason::cancelled:
      break;
  }
  return "cancelled";
}

Generator::Generator(Engine& engine, const tokenizer::Tokenizer& tokenizer, Options options)
    : engine_(engine),
      options_(options),
      slots_(engine),
      queue_(engine, tokenizer, slots_),
      reader_(engine, tokenizer.vocabulary(),
              {.append_max = options.append_max,
               .replay_max = options.replay_max,
               .exact_in_parts = options.exact_in_parts}),
      progress_(engine, tokenizer.vocabulary(), slots_, reader_, queue_),
      shaped_(engine, reader_, progress_) {}

Generator::~Generator() = default;

Result<> Generator::add(Request request, OnText on_text, OnDone on_done) {
  return queue_.add(std::move(request), std::move(on_text), std::move(on_done));
}

Async<Result<>> Generator::read_prompts() {
  std::vector<Slot*> reading;
  for (const auto& slot : slots_.all()) {
    if (slot->answer && slot->answer->reading) reading.push_back(slot.get());
  }
  // The prompts that came first are read first.
  std::ranges::sort(reading, {}, [](const Slot* slot) { return slot->answer->begun; });
  std::uint64_t left = options_.append_max;
  for (Slot* const slot : reading) {
    if (left == 0) break;
    WEFT_CO_OK(co_await read_part(*slot, left));
  }
  co_return Result<>();
}

Async<Result<>> Generator::read_part(Slot& slot, std::uint64_t& left) {
  RunningAnswer& answer = *slot.answer;
  const std::vector<Token>& prompt = answer.request.prompt;
  Result<> read;
  if (answer.wanted()) {
    const std::size_t count =
        std::min<std::size_t>(options_.append_max, prompt.size() - slot.tokens.size());
    const auto from = prompt.begin() + static_cast<std::ptrdiff_t>(slot.tokens.size());
    const auto to = from + static_cast<std::ptrdiff_t>(count);
    read = co_await engine_.append(slot.sequence, {from, to});
    if (read) slot.tokens.insert(slot.tokens.end(), from, to);
    answer.generation.prefill_tokens += read ? static_cast<std::uint32_t>(count) : 0;
    left -= std::min<std::uint64_t>(left, count);
    if (read && slot.tokens.size() < prompt.size()) co_return Result<>();
    if (read) read = co_await reader_.replay(slot);
  }
  if (!read) {
    const bool lasting = read.error().code == ErrorCode::device_lost;
    progress_.fail(slot, read.error());
    co_return lasting ? read : Result<>();
  }
  answer.reading = false;
  co_return co_await begin_drawing(slot);
}

Async<Result<>> Generator::begin_drawing(Slot& slot) {
  RunningAnswer& answer = *slot.answer;
  if (slot.tokens.size() < answer.given()) {
    progress_.end(slot, StopReason::cancelled);
  } else if (answer.length() >= answer.request.tokens_max) {
    WEFT_CO_OK(co_await progress_.finish(slot, StopReason::length));
  } else if (progress_.take_forced(slot) && slot.answer) {
    if (answer.ending) co_return co_await progress_.finish(slot, *answer.ending);
    if (reader_.keeps_hidden(slot))
      engine_.keep_hidden(slot.sequence, static_cast<std::uint32_t>(answer.request.prompt.size()),
                          answer.request.hidden_every);
  }
  co_return Result<>();
}

Async<Result<>> Generator::gather(Turn& turn) {
  std::uint32_t most_ahead = 0;
  for (const auto& slot : slots_.all()) {
    if (!slot->answer) continue;
    if (slot->answer->reading) {
      turn.more = 0;  // The device reads a prompt before the next draw.
      continue;
    }
    if (!slot->answer->wanted()) {
      progress_.end(*slot, StopReason::cancelled);
      continue;
    }
    if (slot->answer->is_shaped()) {
      if (!reader_.draws_masked(*slot)) {
        turn.shaped.push_back(slot.get());
        continue;
      }
      WEFT_CO_OK(co_await shaped_.mask(*slot));
      if (!slot->answer) continue;
      ++turn.masked;
      turn.mask_stays = std::min(turn.mask_stays, slot->answer->mask_stays);
    }
    most_ahead = std::max(most_ahead, engine_.drawn_ahead(slot->sequence));
    turn.drawn.push_back(slot.get());
  }
  // Sequences that have just joined, or whose tokens were taken back, wait until the tokens that
  // are drawn ahead for the other sequences are handed out. After that, all sequences draw
  // together.
  std::erase_if(turn.drawn,
                [&](Slot* slot) { return engine_.drawn_ahead(slot->sequence) < most_ahead; });
  co_return Result<>();
}

Async<Result<>> Generator::draw_together(Turn& turn) {
  std::vector<SequenceId> sequences;
  std::vector<std::vector<Drawn>> tops;
  std::uint32_t& more = turn.more;
  for (Slot* const slot : turn.drawn) {
    const Request& request = slot->answer->request;
    const auto length = static_cast<std::uint32_t>(slot->answer->length());
    if (request.on_hidden && !reader_.keeps_hidden(*slot)) {
      if (length % request.hidden_every == 0) WEFT_CO_OK(co_await reader_.tell_hidden(*slot));
      // Tokens beyond the next hidden state would have to be drawn again, so they are not drawn
      // ahead.
      more = std::min(more, request.hidden_every - length % request.hidden_every - 1);
    }
    sequences.push_back(slot->sequence);
    std::vector<Drawn> top;
    if (request.top > 0) {
      WEFT_CO_ASSIGN(const std::vector<float> logits, co_await engine_.logits(slot->sequence));
      top = best_tokens(logits, request.top);
    }
    tops.push_back(std::move(top));
    const auto left = slot->answer->ending ? 0 : request.tokens_max - length - 1;
    more = request.top > 0 ? 0
                           : std::min({more, left,
                                       engine_.options().context -
                                           static_cast<std::uint32_t>(slot->tokens.size()) - 1});
  }
  if (turn.drawn.empty()) co_return Result<>();
  // A model with a recurrent state cannot go back, so each drawn token is read by itself, before
  // the tokens that the constraint fixes after it are known. Another engine that continues the
  // answer reads its tokens in the same passes.
  const bool reads =
      turn.masked > 0 && (turn.mask_stays < mask_stays_min || engine_.config().delta_net);
  if (turn.masked > 0) more = std::min(more, ahead_of_masks);
  WEFT_CO_ASSIGN(const std::vector<Drawn> drawn, co_await (reads ? engine_.draw_and_read(sequences)
                                                                 : engine_.draw(sequences, more)));
  for (std::size_t i = 0; i < turn.drawn.size(); ++i) {
    Slot& slot = *turn.drawn[i];
    if (slot.answer->is_shaped()) {
      WEFT_CO_OK(co_await progress_.take_masked(slot, drawn[i].token));
    } else {
      WEFT_CO_OK(co_await progress_.take_drawn(slot, drawn[i], std::move(tops[i])));
    }
  }
  co_return Result<>();
}

Async<Result<>> Generator::step() {
  Turn turn;
  WEFT_CO_OK(co_await gather(turn));
  WEFT_CO_OK(co_await draw_together(turn));
  for (Slot* const slot : turn.shaped) WEFT_CO_OK(co_await shaped_.draw(*slot));
  co_return Result<>();
}

void Generator::fail_all(const Error& error) {
  for (const auto& slot : slots_.all()) {
    slot->tokens.clear();
    slot->unread = 0;
    if (auto answer = std::move(slot->answer)) answer->on_done(std::unexpected(error));
  }
  queue_.fail_all(error);
}

Async<Result<>> Generator::run() {
  check(!running_, "a generator runs once at a time");
  running_ = true;
  Result<> result;
  const auto busy = [this] { return !queue_.empty() || slots_.any_answers(); };
  while (result && busy()) {
    result = queue_.admit();
    if (result) result = co_await read_prompts();
    if (result) result = co_await step();
  }
  running_ = false;
  if (!result) fail_all(result.error());
  co_return result;
}

Async<Result<Generation>> Generator::generate(Request request, OnText on_text) {
  std::optional<Result<Generation>> generation;
  WEFT_CO_OK(add(std::move(request), std::move(on_text),
                 [&generation](Result<Generation> done) { generation = std::move(done); }));
  WEFT_CO_OK(co_await run());
  co_return std::move(*generation);
}

}  // namespace weft::llm
