#include "engine/llm/generator.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "common/base/check.h"
#include "engine/llm/sampler.h"
#include "engine/llm/stop_text.h"
#include "engine/tokenizer/stream_decoder.h"

namespace weft::llm {
namespace {

using Clock = std::chrono::steady_clock;

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
        decoder(tokenizer, {.show_special = false}),
        stops(request.stop) {}

  // False where the listener has had enough.
  bool say(std::string text) {
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
  // What has been heard of is not told again.
  void skip_answered() {
    for (const Token token : request.answered) generation.text += stops.push(decoder.push(token));
  }
  // Tokens of the answer.
  [[nodiscard]] std::size_t length() const { return request.answered.size() + generation.tokens.size(); }
  // All that is read before the next token can be drawn.
  [[nodiscard]] std::size_t given() const { return request.prompt.size() + request.answered.size(); }

  Request request;
  OnText on_text;
  OnDone on_done;
  tokenizer::StreamDecoder decoder;
  StopText stops;
  Generation generation;
  std::optional<std::uint32_t> hidden_told;  // Behind how many tokens, last.
  std::optional<StopReason> ending;          // With a hidden state to be told of before.
  std::string certain;                       // Said since the last token that was told of.
  std::size_t told = 0;                      // Tokens.
  Clock::time_point begun;
  Clock::time_point first;  // When the first token was drawn.
};

// A sequence of the engine and what it has read.
struct Generator::Slot {
  SequenceId sequence{};
  std::vector<Token> tokens;
  std::unique_ptr<Answer> answer;  // Null while the slot is free.
};

Generator::Generator(Engine& engine, const tokenizer::Tokenizer& tokenizer, Options options)
    : engine_(engine), tokenizer_(tokenizer), options_(options) {}

Generator::~Generator() {
  for (const auto& slot : slots_) engine_.close(slot->sequence);
}

Result<> Generator::check_request(const Request& request) const {
  if (request.prompt.empty()) return fail(ErrorCode::invalid_argument, "The prompt is empty; a text begins with at least one token.");
  if (const std::size_t given = request.prompt.size() + request.answered.size(); given >= engine_.options().context)
    return fail(ErrorCode::resource_exhausted, "The prompt has {} tokens; at most {} fit into the context of {}, which the answer shares: shorten it.",
                given, engine_.options().context - 1, engine_.options().context);
  constexpr std::uint32_t top_max = 256;
  if (request.top > top_max)
    return fail(ErrorCode::invalid_argument, "{} candidates for every token; at most {} are possible.", request.top, top_max);
  return check_sampling(request.sampling);
}

Result<> Generator::add(Request request, OnText on_text, OnDone on_done) {
  WEFT_OK(check_request(request));
  waiting_.push_back(std::make_unique<Answer>(std::move(request), std::move(on_text), std::move(on_done), tokenizer_));
  return {};
}

// The free slot that has read the longest beginning of the prompt; a fresh one is better than one that must forget everything.
Generator::Slot* Generator::free_slot_for(const std::vector<Token>& prompt) {
  Slot* best = nullptr;
  std::size_t best_common = 0;
  for (const auto& slot : slots_) {
    if (slot->answer) continue;
    const std::size_t common = common_prefix(slot->tokens, prompt);
    if (best != nullptr && common <= best_common) continue;
    best = slot.get();
    best_common = common;
  }
  if (best_common == 0 && slots_.size() < engine_.options().sequences) {
    if (auto sequence = engine_.open()) {
      slots_.push_back(std::make_unique<Slot>());
      slots_.back()->sequence = *sequence;
      return slots_.back().get();
    }
  }
  return best;
}

Async<Result<>> Generator::begin(Slot& slot, std::unique_ptr<Answer> answer) {
  slot.answer = std::move(answer);
  Generation& generation = slot.answer->generation;
  const std::vector<Token>& prompt = slot.answer->request.prompt;
  slot.answer->begun = Clock::now();
  // At least one token is read, since the logits behind it are needed.
  const std::size_t common = std::min(common_prefix(slot.tokens, prompt), prompt.size() - 1);
  const std::uint32_t kept = engine_.rewind(slot.sequence, static_cast<std::uint32_t>(common));
  check(kept <= common, "an engine keeps at most what it is asked to");
  generation.reused_tokens = kept;
  slot.tokens.resize(kept);
  engine_.set_sampling(slot.sequence, slot.answer->request.sampling);
  while (slot.tokens.size() < prompt.size() && slot.answer->wanted()) {
    const auto from = prompt.begin() + static_cast<std::ptrdiff_t>(slot.tokens.size());
    const auto to = from + static_cast<std::ptrdiff_t>(std::min<std::size_t>(options_.append_max, prompt.size() - slot.tokens.size()));
    WEFT_CO_OK(co_await engine_.append(slot.sequence, {from, to}));
    slot.tokens.insert(slot.tokens.end(), from, to);
  }
  generation.prefill_tokens = static_cast<std::uint32_t>(slot.tokens.size() - kept);
  if (slot.tokens.size() == prompt.size()) WEFT_CO_OK(co_await replay(slot));
  co_return Result<>();
}

Async<Result<>> Generator::replay(Slot& slot) {
  const std::vector<Token>& answered = slot.answer->request.answered;
  slot.answer->skip_answered();
  const Request& request = slot.answer->request;
  // What is read for its hidden states alone draws nothing that would have to be the same to the last bit.
  const bool draws = answered.size() < request.tokens_max;
  const std::size_t part = draws && answered.size() <= options_.replay_max && !options_.exact_in_parts ? 1 : options_.append_max;
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

Async<Result<>> Generator::tell_hidden(Slot& slot) {
  Answer& answer = *slot.answer;
  const auto tokens = static_cast<std::uint32_t>(slot.tokens.size() - answer.request.prompt.size());
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

Async<Result<>> Generator::admit() {
  drop_unwanted();
  while (!waiting_.empty()) {
    Slot* slot = free_slot_for(waiting_.front()->request.prompt);
    if (slot == nullptr) break;
    auto answer = std::move(waiting_.front());
    waiting_.pop_front();
    auto begun = co_await begin(*slot, std::move(answer));
    if (begun && slot->tokens.size() < slot->answer->given()) {
      end(*slot, StopReason::cancelled);
    } else if (begun && slot->answer->length() >= slot->answer->request.tokens_max) {
      WEFT_CO_OK(co_await finish(*slot, StopReason::length));
    } else if (!begun) {
      const bool lasting = begun.error().code == ErrorCode::device_lost;
      slot->tokens.clear();
      (void)engine_.rewind(slot->sequence, 0);
      auto failed = std::move(slot->answer);
      failed->on_done(std::unexpected(begun.error()));
      if (lasting) co_return begun;
    }
  }
  co_return Result<>();
}

void Generator::end(Slot& slot, StopReason reason) {
  auto answer = std::move(slot.answer);
  if (reason != StopReason::stop && reason != StopReason::cancelled) {
    (void)answer->say(answer->stops.push(answer->decoder.finish()));
    (void)answer->say(answer->stops.finish());
  }
  Generation& generation = answer->generation;
  generation.stop = reason;
  if (generation.tokens.empty()) answer->first = Clock::now();
  generation.prefill_s = seconds(answer->first - answer->begun);
  generation.decode_s = seconds(Clock::now() - answer->first);
  // The engine may have worked ahead.
  slot.tokens.resize(engine_.rewind(slot.sequence, static_cast<std::uint32_t>(slot.tokens.size())));
  answer->tell();
  answer->on_done(std::move(generation));
}

void Generator::take(Slot& slot, const Drawn& drawn, std::vector<Drawn> top) {
  Answer& answer = *slot.answer;
  Generation& generation = answer.generation;
  if (generation.tokens.empty()) answer.first = Clock::now();
  slot.tokens.push_back(drawn.token);
  generation.tokens.push_back({.id = drawn.token, .text = {}, .logprob = drawn.logprob, .top = std::move(top)});
  const auto ends = [&](StopReason reason) { answer.request.on_hidden ? (void)(answer.ending = reason) : end(slot, reason); };
  if (tokenizer_.vocabulary().ends_generation(drawn.token)) return ends(StopReason::eos);

  GeneratedToken& token = generation.tokens.back();
  token.text = answer.decoder.push(drawn.token);
  if (!answer.say(answer.stops.push(token.text))) return end(slot, StopReason::cancelled);
  if (answer.stops.found()) return ends(StopReason::stop);
  if (answer.length() >= answer.request.tokens_max || slot.tokens.size() >= engine_.options().context) return ends(StopReason::length);
  answer.tell();
}

// One token for every sequence that is being answered.
Async<Result<>> Generator::step() {
  std::vector<Slot*> slots;
  std::vector<SequenceId> sequences;
  std::vector<std::vector<Drawn>> tops;
  std::uint32_t more = ~0u;
  for (const auto& slot : slots_) {
    if (!slot->answer) continue;
    if (!slot->answer->wanted()) {
      end(*slot, StopReason::cancelled);
      continue;
    }
    const Request& request = slot->answer->request;
    const auto length = static_cast<std::uint32_t>(slot->answer->length());
    if (request.on_hidden) {
      if (length % request.hidden_every == 0) WEFT_CO_OK(co_await tell_hidden(*slot));
      // What is drawn ahead of the next one would be drawn anew.
      more = std::min(more, request.hidden_every - length % request.hidden_every - 1);
    }
    slots.push_back(slot.get());
    sequences.push_back(slot->sequence);
    std::vector<Drawn> top;
    if (request.top > 0) {
      WEFT_CO_ASSIGN(const std::vector<float> logits, co_await engine_.logits(slot->sequence));
      top = best_tokens(logits, request.top);
    }
    tops.push_back(std::move(top));
    const auto left = static_cast<std::uint32_t>(request.tokens_max - slot->answer->length()) - 1;
    more = request.top > 0 ? 0 : std::min({more, left, engine_.options().context - static_cast<std::uint32_t>(slot->tokens.size()) - 1});
  }
  if (slots.empty()) co_return Result<>();
  WEFT_CO_ASSIGN(const std::vector<Drawn> drawn, co_await engine_.draw(sequences, more));
  for (std::size_t i = 0; i < slots.size(); ++i) take(*slots[i], drawn[i], std::move(tops[i]));
  for (Slot* const slot : slots) {
    if (slot->answer && slot->answer->ending) WEFT_CO_OK(co_await finish(*slot, *slot->answer->ending));
  }
  co_return Result<>();
}

void Generator::fail_all(const Error& error) {
  for (const auto& slot : slots_) {
    slot->tokens.clear();
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
  const auto busy = [this] { return !waiting_.empty() || std::ranges::any_of(slots_, [](const auto& slot) { return slot->answer != nullptr; }); };
  while (result && busy()) {
    result = co_await admit();
    if (result) result = co_await step();
  }
  running_ = false;
  if (!result) fail_all(result.error());
  co_return result;
}

Async<Result<Generation>> Generator::generate(Request request, OnText on_text) {
  std::optional<Result<Generation>> generation;
  WEFT_CO_OK(add(std::move(request), std::move(on_text), [&generation](Result<Generation> done) { generation = std::move(done); }));
  WEFT_CO_OK(co_await run());
  co_return std::move(*generation);
}

}  // namespace weft::llm
