#include "engine/llm/generator.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "common/base/check.h"
#include "common/tools/stop_text.h"
#include "engine/llm/answer_redraw.h"
#include "engine/tokenizer/stream_decoder.h"

namespace weft::llm {
namespace {

using Clock = std::chrono::steady_clock;

// A slot that has read so much more of a prompt gives it to the one that is to answer.
constexpr std::size_t shared_least = 64;

double seconds(Clock::duration duration) { return std::chrono::duration<double>(duration).count(); }

std::size_t common_prefix(const std::vector<Token>& a, const std::vector<Token>& b) {
  return static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

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

// A request and what has been answered so far.
struct Generator::Answer {
  Answer(Request request_, OnText on_text_, OnDone on_done_, const tokenizer::Tokenizer& tokenizer)
      : request(std::move(request_)),
        on_text(std::move(on_text_)),
        on_done(std::move(on_done_)),
        vocabulary(tokenizer.vocabulary()),
        decoder(tokenizer, {.show_special = false}),
        stops(request.stop) {}

  // False where the listener has had enough.
  bool say(const std::string& text) {
    generation.text += text;
    if (request.on_token) certain += text;
    return text.empty() || !on_text || on_text(text);
  }
  // Tells of the last token, once.
  void tell() {
    if (!request.on_token || told == generation.tokens.size()) return;
    told = generation.tokens.size();
    request.on_token(generation.tokens.back(), std::exchange(certain, {}));
  }
  bool wanted() const { return !request.wanted || request.wanted(); }
  // The text that a token completes.
  [[nodiscard]] std::string text_of(Token token) {
    if (!std::ranges::contains(request.shown, token)) return decoder.push(token);
    return decoder.finish() + std::string(vocabulary.text(token));
  }
  // What has been heard of is not told again.
  void skip_answered() {
    for (const Token token : request.answered) generation.text += stops.push(text_of(token));
  }
  // Whether its tokens are sampled here and not by the engine.
  [[nodiscard]] bool is_shaped() const { return request.constraint || !request.bias.empty(); }
  // Tokens of the answer.
  [[nodiscard]] std::size_t length() const {
    return request.answered.size() + generation.tokens.size();
  }
  // All that is read before the next token can be drawn.
  [[nodiscard]] std::size_t given() const {
    return request.prompt.size() + request.answered.size();
  }

  Request request;
  OnText on_text;
  OnDone on_done;
  const tokenizer::Vocabulary& vocabulary;
  tokenizer::StreamDecoder decoder;
  tools::StopText stops;
  Generation generation;
  std::optional<std::uint32_t> hidden_told;  // Behind how many tokens, last.
  std::optional<StopReason> ending;          // With a hidden state to be told of before.
  bool reading = true;                       // The prompt, or what was answered elsewhere.
  std::string certain;                       // Said since the last token that was told of.
  std::size_t told = 0;                      // Tokens.
  Clock::time_point begun;
  Clock::time_point first;  // When the first token was drawn.
};

// A sequence of the engine and what it has read.
struct Generator::Slot {
  SequenceId sequence{};
  std::vector<Token> tokens;
  std::size_t unread = 0;          // How many of the last ones the engine has not been given.
  std::unique_ptr<Answer> answer;  // Null while the slot is free.
  std::uint64_t used = 0;          // When its last answer ended, by Generator::uses_.

  // What the engine has read of it.
  [[nodiscard]] std::size_t read() const { return tokens.size() - unread; }
};

Generator::Generator(Engine& engine, const tokenizer::Tokenizer& tokenizer, Options options)
    : engine_(engine), tokenizer_(tokenizer), options_(options) {}

Generator::~Generator() {
  for (const auto& slot : slots_) engine_.close(slot->sequence);
}

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
  waiting_.push_back(std::make_unique<Answer>(std::move(request), std::move(on_text),
                                              std::move(on_done), tokenizer_));
  return {};
}

// The free slot that has read the longest beginning of the prompt; a fresh one is better than one
// that must forget everything, and of those the one that was used the longest time ago.
Generator::Slot* Generator::free_slot_for(const std::vector<Token>& prompt) {
  Slot* best = nullptr;
  std::size_t best_common = 0;
  for (const auto& slot : slots_) {
    if (slot->answer) continue;
    const std::size_t common = common_prefix(slot->tokens, prompt);
    if (best != nullptr &&
        (common < best_common || (common == best_common && slot->used >= best->used)))
      continue;
    best = slot.get();
    best_common = common;
  }
  if (best_common == 0 && slots_.size() < engine_.options().sequences) {
    if (Slot* const fresh = fresh_slot()) return fresh;
  }
  return best;
}

Generator::Slot* Generator::fresh_slot() {
  auto sequence = engine_.open();
  if (!sequence) return nullptr;
  slots_.push_back(std::make_unique<Slot>());
  slots_.back()->sequence = *sequence;
  return slots_.back().get();
}

// Keeps what `slot` has read of the prompt, or takes what another one, answering or not, has read
// of it, where that is more. How much the slot then has.
std::uint32_t Generator::begin_with_what_is_read(Slot& slot, const std::vector<Token>& prompt) {
  // At least one token is read, since the logits behind it are needed.
  const auto known = [&](const Slot& one) {
    return std::min({common_prefix(one.tokens, prompt), one.read(), prompt.size() - 1});
  };
  const Slot* giver = nullptr;
  std::size_t most = known(slot) + shared_least;
  for (const auto& one : slots_) {
    if (one.get() == &slot || known(*one) < most) continue;
    giver = one.get();
    most = known(*one) + 1;
  }
  if (giver != nullptr) {
    (void)engine_.rewind(slot.sequence, 0);
    slot.tokens.clear();
    const std::uint32_t shared =
        engine_.share(giver->sequence, slot.sequence, static_cast<std::uint32_t>(known(*giver)));
    slot.tokens.assign(giver->tokens.begin(),
                       giver->tokens.begin() + static_cast<std::ptrdiff_t>(shared));
    if (shared > 0) return shared;
  }
  const std::size_t common = known(slot);
  const std::uint32_t kept = engine_.rewind(slot.sequence, static_cast<std::uint32_t>(common));
  check(kept <= common, "an engine keeps at most what it is asked to");
  slot.tokens.resize(kept);
  return kept;
}

// Memory for the whole of an answer, before it begins; slots that only keep what they have read
// give way, those first that were used the longest time ago.
Result<> Generator::reserve(Slot& slot, const Request& request) {
  const auto positions = static_cast<std::uint32_t>(std::min<std::uint64_t>(
      engine_.options().context, request.prompt.size() + std::uint64_t{request.tokens_max} + 1));
  while (true) {
    auto reserved = engine_.reserve(slot.sequence, positions);
    if (reserved || reserved.error().code != ErrorCode::resource_exhausted) return reserved;
    auto oldest = slots_.end();
    for (auto one = slots_.begin(); one != slots_.end(); ++one) {
      if ((*one)->answer || one->get() == &slot) continue;
      if (oldest == slots_.end() || (*one)->used < (*oldest)->used) oldest = one;
    }
    if (oldest == slots_.end()) return reserved;
    engine_.close((*oldest)->sequence);
    slots_.erase(oldest);
  }
}

void Generator::begin(Slot& slot, std::unique_ptr<Answer> answer, std::uint32_t kept) {
  slot.answer = std::move(answer);
  slot.answer->begun = Clock::now();
  slot.answer->generation.reused_tokens = kept;
  engine_.set_sampling(slot.sequence, slot.answer->request.sampling);
}

// A part of a prompt for each slot that reads one, until as many tokens are read as a part may
// have: the others draw a token before it goes on.
Async<Result<>> Generator::read_prompts() {
  std::vector<Slot*> reading;
  for (const auto& slot : slots_) {
    if (slot->answer && slot->answer->reading) reading.push_back(slot.get());
  }
  // Those that came first are through first.
  std::ranges::sort(reading, {}, [](const Slot* slot) { return slot->answer->begun; });
  std::uint64_t left = options_.append_max;
  for (Slot* const slot : reading) {
    if (left == 0) break;
    Answer& answer = *slot->answer;
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
      if (read) read = co_await replay(*slot);
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
    } else if (slot->answer && keeps_hidden(*slot)) {
      engine_.keep_hidden(slot->sequence, static_cast<std::uint32_t>(prompt.size()),
                          answer.request.hidden_every);
    }
  }
  co_return Result<>();
}

// Whether the engine's draws bring the hidden states that the request asks for.
bool Generator::keeps_hidden(const Slot& slot) const {
  return slot.answer->request.on_hidden && !slot.answer->is_shaped() && engine_.keeps_hidden();
}

Async<Result<>> Generator::replay(Slot& slot) {
  const std::vector<Token>& answered = slot.answer->request.answered;
  slot.answer->skip_answered();
  const Request& request = slot.answer->request;
  if (request.on_redrawn && answered.size() >= request.tokens_max) co_return co_await redraw(slot);
  if (slot.answer->is_shaped() && answered.size() < request.tokens_max)
    co_return co_await replay_shaped(slot);
  // What is read for its hidden states alone draws nothing that would have to be the same to the
  // last bit.
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

Async<Result<>> Generator::redraw(Slot& slot) {
  constexpr std::size_t rows_max = 16;  // Whose logits are held at a time.
  const Request& request = slot.answer->request;
  const std::vector<Token>& answered = request.answered;
  const std::size_t vocabulary = engine_.config().vocabulary;
  AnswerRedraw redraw(request, tokenizer_.vocabulary());
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

// In the same passes as when they were drawn: a token, with those that it left no choice about.
Async<Result<>> Generator::replay_shaped(Slot& slot) {
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
    WEFT_CO_OK(take_fixed());
  }
  co_return Result<>();
}

Async<Result<>> Generator::feed(Slot& slot, bool tells) {
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

Async<Result<>> Generator::tell_hidden(Slot& slot) {
  Answer& answer = *slot.answer;
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

Async<Result<>> Generator::finish(Slot& slot, StopReason reason) {
  if (slot.answer->request.on_hidden) WEFT_CO_OK(co_await feed(slot, true));
  WEFT_CO_OK(co_await tell_hidden(slot));
  end(slot, reason);
  co_return Result<>();
}

// Those that wait for a slot and need not wait any more.
void Generator::drop_unwanted() {
  std::vector<std::unique_ptr<Answer>> dropped;
  std::erase_if(waiting_, [&](std::unique_ptr<Answer>& answer) {
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
    Slot* slot = free_slot_for(waiting_.front()->request.prompt);
    if (slot == nullptr) break;
    const std::uint32_t kept = begin_with_what_is_read(*slot, waiting_.front()->request.prompt);
    if (const auto reserved = reserve(*slot, waiting_.front()->request); !reserved) {
      if (reserved.error().code != ErrorCode::resource_exhausted) return reserved;
      // Room comes when an answer ends.
      lacks_memory_ =
          std::ranges::any_of(slots_, [](const auto& one) { return one->answer != nullptr; });
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
  slot.tokens.clear();
  slot.unread = 0;
  (void)engine_.rewind(slot.sequence, 0);
  engine_.keep_hidden(slot.sequence, 0, 0);
  (void)engine_.reserve(slot.sequence, 0);
  lacks_memory_ = false;
  auto failed = std::move(slot.answer);
  failed->on_done(std::unexpected(error));
}

void Generator::end(Slot& slot, StopReason reason) {
  auto answer = std::move(slot.answer);
  if (reason != StopReason::stop && reason != StopReason::cancelled) {
    (void)answer->say(answer->stops.push(answer->decoder.finish()));
    (void)answer->say(answer->stops.finish());
  }
  Generation& generation = answer->generation;
  generation.stop = reason;
  generation.sequence = slot.sequence;
  if (generation.tokens.empty()) answer->first = Clock::now();
  generation.prefill_s = seconds(answer->first - answer->begun);
  generation.decode_s = seconds(Clock::now() - answer->first);
  slot.tokens.resize(slot.tokens.size() - std::exchange(slot.unread, 0));
  // The engine may have worked ahead.
  slot.tokens.resize(engine_.rewind(slot.sequence, static_cast<std::uint32_t>(slot.tokens.size())));
  engine_.keep_hidden(slot.sequence, 0, 0);
  (void)engine_.reserve(slot.sequence, 0);
  lacks_memory_ = false;
  slot.used = ++uses_;
  answer->tell();
  answer->on_done(std::move(generation));
}

void Generator::take(Slot& slot, const Drawn& drawn, std::vector<Drawn> top) {
  Answer& answer = *slot.answer;
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

Async<Result<>> Generator::step_shaped(Slot& slot) {
  const Request& request = slot.answer->request;
  WEFT_CO_OK(co_await feed(slot, true));
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
  Answer& answer = *slot.answer;
  if (keeps_hidden(slot)) {
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
  const bool draws_once_more = keeps_hidden(slot) && slot.tokens.size() < engine_.options().context;
  if (!draws_once_more) co_return co_await finish(slot, *slot.answer->ending);
  engine_.keep_hidden(slot.sequence, static_cast<std::uint32_t>(slot.tokens.size()), 1);
  co_return Result<>();
}

// One token for every sequence that is being answered.
Async<Result<>> Generator::step() {
  std::vector<Slot*> slots, shaped;
  std::uint32_t more = ~0u;
  bool any_ahead = false, all_ahead = true;
  for (const auto& slot : slots_) {
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
      shaped.push_back(slot.get());
      continue;
    }
    const bool ahead = engine_.drawn_ahead(slot->sequence) > 0;
    any_ahead |= ahead;
    all_ahead &= ahead;
    slots.push_back(slot.get());
  }
  // Those that have joined wait for what is under way for the others, which then draw with them.
  if (any_ahead && !all_ahead)
    std::erase_if(slots, [&](Slot* slot) { return engine_.drawn_ahead(slot->sequence) == 0; });
  std::vector<SequenceId> sequences;
  std::vector<std::vector<Drawn>> tops;
  for (Slot* const slot : slots) {
    const Request& request = slot->answer->request;
    const auto length = static_cast<std::uint32_t>(slot->answer->length());
    if (request.on_hidden && !keeps_hidden(*slot)) {
      if (length % request.hidden_every == 0) WEFT_CO_OK(co_await tell_hidden(*slot));
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
    WEFT_CO_ASSIGN(const std::vector<Drawn> drawn, co_await engine_.draw(sequences, more));
    for (std::size_t i = 0; i < slots.size(); ++i)
      WEFT_CO_OK(co_await take_drawn(*slots[i], drawn[i], std::move(tops[i])));
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
  for (const auto& slot : slots_) {
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
  const auto busy = [this] {
    return !waiting_.empty() ||
           std::ranges::any_of(slots_, [](const auto& slot) { return slot->answer != nullptr; });
  };
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
