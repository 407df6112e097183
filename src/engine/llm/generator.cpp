#include "engine/llm/generator.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "common/base/check.h"

namespace weft::llm {
namespace {

using Clock = RunningAnswer::Clock;

// Where the device reads on while a mask is found, each draw waits for it a little; draws ahead of
// a mask do not, and are lost where it changes. So they begin once the mask has stayed the same for
// so many tokens, and are as few as keep the device busy.
constexpr std::uint32_t mask_stays_min = 32, ahead_of_masks = 3;

double seconds(Clock::duration duration) { return std::chrono::duration<double>(duration).count(); }

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
      tokenizer_(tokenizer),
      options_(options),
      slots_(engine),
      reader_(engine, tokenizer.vocabulary(),
              {.append_max = options.append_max,
               .replay_max = options.replay_max,
               .exact_in_parts = options.exact_in_parts}) {}

Generator::~Generator() = default;

Result<> Generator::check_request(const Request& request) const {
  if (request.prompt.empty())
    return fail(ErrorCode::invalid_argument,
                "The prompt is empty; a text begins with at least one token.");
  if (const std::size_t given = request.prompt.size() + request.answered.size();
      given >= engine_.options().context)
    return fail(ErrorCode::resource_exhausted,
                "The prompt has {} tokens; at most {} fit into the context of {}, which the answer "
                "shares: shorten it.",
                given, engine_.options().context - 1, engine_.options().context);
  constexpr std::uint32_t top_max = 256;
  if (request.top > top_max)
    return fail(ErrorCode::invalid_argument,
                "{} candidates for every token; at most {} are possible.", request.top, top_max);
  for (const TokenBias& one : request.bias) {
    if (!tokenizer_.vocabulary().has(one.token))
      return fail(ErrorCode::invalid_argument,
                  "A bias is given for {}, which is not a token of the "
                  "model, which has {}.",
                  one.token, tokenizer_.vocabulary().size());
  }
  return check_sampling(request.sampling);
}

Result<> Generator::add(Request request, OnText on_text, OnDone on_done) {
  WEFT_OK(check_request(request));
  waiting_.push_back(std::make_unique<RunningAnswer>(std::move(request), std::move(on_text),
                                                     std::move(on_done), tokenizer_));
  return {};
}

void Generator::begin(Slot& slot, std::unique_ptr<RunningAnswer> answer, std::uint32_t kept) {
  slot.answer = std::move(answer);
  slot.answer->begun = Clock::now();
  slot.answer->generation.reused_tokens = kept;
  engine_.set_sampling(slot.sequence, slot.answer->request.sampling);
  if (engine_.takes_masks()) engine_.set_mask(slot.sequence, {});
}

// A part of a prompt for each slot that reads one, until as many tokens are read as a part may
// have: the others draw a token before it goes on.
Async<Result<>> Generator::read_prompts() {
  std::vector<Slot*> reading;
  for (const auto& slot : slots_.all()) {
    if (slot->answer && slot->answer->reading) reading.push_back(slot.get());
  }
  // Those that came first are through first.
  std::ranges::sort(reading, {}, [](const Slot* slot) { return slot->answer->begun; });
  std::uint64_t left = options_.append_max;
  for (Slot* const slot : reading) {
    if (left == 0) break;
    RunningAnswer& answer = *slot->answer;
    const std::vector<Token>& prompt = answer.request.prompt;
    Result<> read;
    if (answer.wanted()) {
      const std::size_t count =
          std::min<std::size_t>(options_.append_max, prompt.size() - slot->tokens.size());
      const auto from = prompt.begin() + static_cast<std::ptrdiff_t>(slot->tokens.size());
      const auto to = from + static_cast<std::ptrdiff_t>(count);
      read = co_await engine_.append(slot->sequence, {from, to});
      if (read) slot->tokens.insert(slot->tokens.end(), from, to);
      answer.generation.prefill_tokens += read ? static_cast<std::uint32_t>(count) : 0;
      left -= std::min<std::uint64_t>(left, count);
      if (read && slot->tokens.size() < prompt.size()) continue;
      if (read) read = co_await reader_.replay(*slot);
    }
    if (!read) {
      const bool lasting = read.error().code == ErrorCode::device_lost;
      fail_answer(*slot, read.error());
      if (lasting) co_return read;
      continue;
    }
    answer.reading = false;
    if (slot->tokens.size() < answer.given()) {
      end(*slot, StopReason::cancelled);
    } else if (answer.length() >= answer.request.tokens_max) {
      WEFT_CO_OK(co_await finish(*slot, StopReason::length));
    } else if (auto forced = take_forced(*slot); !forced) {
      fail_answer(*slot, forced.error());
    } else if (slot->answer && slot->answer->ending) {
      WEFT_CO_OK(co_await finish(*slot, *slot->answer->ending));
    } else if (slot->answer && reader_.keeps_hidden(*slot)) {
      engine_.keep_hidden(slot->sequence, static_cast<std::uint32_t>(prompt.size()),
                          answer.request.hidden_every);
    }
  }
  co_return Result<>();
}

Async<Result<>> Generator::finish(Slot& slot, StopReason reason) {
  if (slot.answer->request.on_hidden) WEFT_CO_OK(co_await reader_.feed(slot, true));
  WEFT_CO_OK(co_await reader_.tell_hidden(slot));
  end(slot, reason);
  co_return Result<>();
}

// Those that wait for a slot and need not wait any more.
void Generator::drop_unwanted() {
  std::vector<std::unique_ptr<RunningAnswer>> dropped;
  std::erase_if(waiting_, [&](std::unique_ptr<RunningAnswer>& answer) {
    if (answer->wanted()) return false;
    dropped.push_back(std::move(answer));
    return true;
  });
  for (const auto& answer : dropped) {
    answer->generation.stop = StopReason::cancelled;
    answer->on_done(std::move(answer->generation));
  }
}

// As many as there are slots and memory for, in the order in which they came.
Result<> Generator::admit() {
  drop_unwanted();
  while (!waiting_.empty() && !lacks_memory_) {
    Slot* slot = slots_.free_for(waiting_.front()->request.prompt);
    if (slot == nullptr) break;
    const std::uint32_t kept =
        slots_.begin_with_what_is_read(*slot, waiting_.front()->request.prompt);
    if (const auto reserved = slots_.reserve(*slot, waiting_.front()->request); !reserved) {
      if (reserved.error().code != ErrorCode::resource_exhausted) return reserved;
      // Room comes when an answer ends.
      lacks_memory_ = slots_.any_answers();
      if (lacks_memory_) break;
      auto answer = std::move(waiting_.front());
      waiting_.pop_front();
      answer->on_done(std::unexpected(reserved.error()));
      continue;
    }
    auto answer = std::move(waiting_.front());
    waiting_.pop_front();
    begin(*slot, std::move(answer), kept);
  }
  return {};
}

void Generator::fail_answer(Slot& slot, const Error& error) {
  const auto failed = slots_.abandon(slot);
  lacks_memory_ = false;
  failed->on_done(std::unexpected(error));
}

void Generator::end(Slot& slot, StopReason reason) {
  const auto answer = slots_.release(slot);
  lacks_memory_ = false;
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

void Generator::take(Slot& slot, const Drawn& drawn, std::vector<Drawn> top) {
  RunningAnswer& answer = *slot.answer;
  Generation& generation = answer.generation;
  if (generation.tokens.empty()) answer.first = Clock::now();
  slot.tokens.push_back(drawn.token);
  generation.tokens.push_back(
      {.id = drawn.token, .text = {}, .logprob = drawn.logprob, .top = std::move(top)});
  const auto ends = [&](StopReason reason) {
    answer.request.on_hidden ? (void)(answer.ending = reason) : end(slot, reason);
  };
  if (tokenizer_.vocabulary().ends_generation(drawn.token)) return ends(StopReason::eos);

  GeneratedToken& token = generation.tokens.back();
  token.text = answer.text_of(drawn.token);
  if (!answer.say(answer.stops.push(token.text))) return end(slot, StopReason::cancelled);
  if (answer.stops.found()) return ends(StopReason::stop);
  if (answer.length() >= answer.request.tokens_max ||
      slot.tokens.size() >= engine_.options().context)
    return ends(StopReason::length);
  answer.tell();
}

Result<Drawn> Generator::sample(Slot& slot, std::span<const float> logits) {
  const Request& request = slot.answer->request;
  shaped_.assign(logits.begin(), logits.end());
  for (const TokenBias& one : request.bias)
    shaped_[static_cast<std::size_t>(one.token)] += one.bias;
  if (request.constraint) WEFT_OK(request.constraint->restrict(shaped_));
  const Token token = sampler_.choose(request.sampling, shaped_, slot.tokens,
                                      static_cast<std::uint32_t>(slot.tokens.size()));
  if (request.constraint) WEFT_OK(request.constraint->accept(token));
  // The sum over a large vocabulary takes as long as a small model's token.
  if (request.constraint && request.top == 0) return Drawn{token, 0};
  const double logprob = logits[static_cast<std::size_t>(token)] - log_sum_exp(logits);
  return Drawn{token, static_cast<float>(logprob)};
}

Result<> Generator::take_forced(Slot& slot) {
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

Async<Result<>> Generator::mask(Slot& slot) {
  if (slot.unread > 0) WEFT_CO_OK(co_await reader_.feed(slot, true));
  RunningAnswer& answer = *slot.answer;
  const auto allowed = answer.request.constraint->allowed();
  if (!allowed) {
    fail_answer(slot, allowed.error());
    co_return Result<>();
  }
  if (std::ranges::equal(answer.mask, *allowed)) co_return Result<>();
  answer.mask.assign(allowed->begin(), allowed->end());
  answer.mask_stays = 0;
  engine_.set_mask(slot.sequence, answer.mask);
  co_return Result<>();
}

Async<Result<>> Generator::step_shaped(Slot& slot) {
  const Request& request = slot.answer->request;
  WEFT_CO_OK(co_await reader_.feed(slot, true));
  WEFT_CO_ASSIGN(const std::vector<float> logits, co_await engine_.logits(slot.sequence));
  const auto drawn = sample(slot, logits);
  if (!drawn) {
    fail_answer(slot, drawn.error());
    co_return Result<>();
  }
  ++slot.unread;
  take(slot, *drawn, request.top > 0 ? best_tokens(logits, request.top) : std::vector<Drawn>());
  if (auto forced = take_forced(slot); !forced) fail_answer(slot, forced.error());
  co_return Result<>();
}

// What was drawn for a slot, with the hidden state that it came from where that is to be told of.
Async<Result<>> Generator::take_drawn(Slot& slot, const Drawn& drawn, std::vector<Drawn> top) {
  RunningAnswer& answer = *slot.answer;
  if (reader_.keeps_hidden(slot)) {
    const auto tokens =
        static_cast<std::uint32_t>(slot.tokens.size() - answer.request.prompt.size());
    if (answer.ending || tokens % answer.request.hidden_every == 0) {
      const auto hidden =
          engine_.take_hidden(slot.sequence, static_cast<std::uint32_t>(slot.tokens.size()));
      if (hidden && answer.hidden_told != tokens) {
        answer.hidden_told = tokens;
        answer.request.on_hidden(tokens, *hidden);
      }
    }
    // It was only drawn behind its end for that.
    if (answer.ending) {
      end(slot, *answer.ending);
      co_return Result<>();
    }
  }
  take(slot, drawn, std::move(top));
  if (!slot.answer || !slot.answer->ending) co_return Result<>();
  // Nothing may follow what a constraint completes.
  const bool draws_once_more = reader_.keeps_hidden(slot) && !slot.answer->is_shaped() &&
                               slot.tokens.size() < engine_.options().context;
  if (!draws_once_more) co_return co_await finish(slot, *slot.answer->ending);
  engine_.keep_hidden(slot.sequence, static_cast<std::uint32_t>(slot.tokens.size()), 1);
  co_return Result<>();
}

Async<Result<>> Generator::take_masked(Slot& slot, Token token) {
  if (const auto taken = slot.answer->request.constraint->accept(token); !taken) {
    fail_answer(slot, taken.error());
    co_return Result<>();
  }
  ++slot.answer->mask_stays;
  WEFT_CO_OK(co_await take_drawn(slot, {.token = token, .logprob = 0}, {}));
  if (!slot.answer) co_return Result<>();
  if (const auto forced = take_forced(slot); !forced) fail_answer(slot, forced.error());
  if (slot.answer && slot.answer->ending) WEFT_CO_OK(co_await finish(slot, *slot.answer->ending));
  co_return Result<>();
}

// One token for every sequence that is being answered.
Async<Result<>> Generator::step() {
  std::vector<Slot*> slots, shaped;
  std::uint32_t more = ~0u, mask_stays = ~0u, most_ahead = 0;
  std::size_t masked = 0;
  for (const auto& slot : slots_.all()) {
    if (!slot->answer) continue;
    if (slot->answer->reading) {
      more = 0;  // The next thing that the device does is not a draw.
      continue;
    }
    if (!slot->answer->wanted()) {
      end(*slot, StopReason::cancelled);
      continue;
    }
    if (slot->answer->is_shaped()) {
      if (!reader_.draws_masked(*slot)) {
        shaped.push_back(slot.get());
        continue;
      }
      WEFT_CO_OK(co_await mask(*slot));
      if (!slot->answer) continue;
      ++masked;
      mask_stays = std::min(mask_stays, slot->answer->mask_stays);
    }
    most_ahead = std::max(most_ahead, engine_.drawn_ahead(slot->sequence));
    slots.push_back(slot.get());
  }
  // Those that have joined wait for what is under way for the others, which then draw with them;
  // so does an answer whose tokens were taken back.
  std::erase_if(slots,
                [&](Slot* slot) { return engine_.drawn_ahead(slot->sequence) < most_ahead; });
  std::vector<SequenceId> sequences;
  std::vector<std::vector<Drawn>> tops;
  for (Slot* const slot : slots) {
    const Request& request = slot->answer->request;
    const auto length = static_cast<std::uint32_t>(slot->answer->length());
    if (request.on_hidden && !reader_.keeps_hidden(*slot)) {
      if (length % request.hidden_every == 0) WEFT_CO_OK(co_await reader_.tell_hidden(*slot));
      // What is drawn ahead of the next one would be drawn again.
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
  if (!slots.empty()) {
    // A recurrent state cannot go back. Each token is read by itself, before what is fixed behind
    // it is known, as when the answer is read again elsewhere.
    const bool reads = masked > 0 && (mask_stays < mask_stays_min || engine_.config().delta_net);
    if (masked > 0) more = std::min(more, ahead_of_masks);
    WEFT_CO_ASSIGN(
        const std::vector<Drawn> drawn,
        co_await (reads ? engine_.draw_and_read(sequences) : engine_.draw(sequences, more)));
    for (std::size_t i = 0; i < slots.size(); ++i) {
      if (slots[i]->answer->is_shaped()) {
        WEFT_CO_OK(co_await take_masked(*slots[i], drawn[i].token));
      } else {
        WEFT_CO_OK(co_await take_drawn(*slots[i], drawn[i], std::move(tops[i])));
      }
    }
  }
  for (Slot* const slot : shaped) {
    WEFT_CO_OK(co_await step_shaped(*slot));
    if (slot->answer && slot->answer->ending)
      WEFT_CO_OK(co_await finish(*slot, *slot->answer->ending));
  }
  co_return Result<>();
}

void Generator::fail_all(const Error& error) {
  lacks_memory_ = false;
  for (const auto& slot : slots_.all()) {
    slot->tokens.clear();
    slot->unread = 0;
    if (auto answer = std::move(slot->answer)) answer->on_done(std::unexpected(error));
  }
  while (!waiting_.empty()) {
    auto answer = std::move(waiting_.front());
    waiting_.pop_front();
    answer->on_done(std::unexpected(error));
  }
}

Async<Result<>> Generator::run() {
  check(!running_, "a generator runs once at a time");
  running_ = true;
  Result<> result;
  const auto busy = [this] { return !waiting_.empty() || slots_.any_answers(); };
  while (result && busy()) {
    result = admit();
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
