// A request that is being answered, and the sequence of the engine that answers it: state of the
// generator and its parts (generator.h), and nothing that decides.
//
// Threading: the engine's thread.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/result.h"
#include "common/tools/stop_text.h"
#include "engine/llm/engine.h"
#include "engine/llm/generation.h"
#include "engine/tokenizer/stream_decoder.h"
#include "engine/tokenizer/tokenizer.h"

namespace weft::llm {

// A request and what has been answered so far.
struct RunningAnswer {
  // Gets the text of the answer as it becomes certain; false ends the answer.
  using OnText = std::function<bool(std::string_view text)>;
  using OnDone = std::function<void(Result<Generation> generation)>;
  using Clock = std::chrono::steady_clock;

  RunningAnswer(Request request_, OnText on_text_, OnDone on_done_,
                const tokenizer::Tokenizer& tokenizer)
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
  // Whether its logits are changed before a token is drawn.
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
  // What its constraint allows, as the engine has it, and for how many tokens it has stayed so.
  std::vector<std::uint64_t> mask{};
  std::uint32_t mask_stays = 0;
  std::optional<std::uint32_t> hidden_told;  // Behind how many tokens, last.
  std::optional<StopReason> ending;          // With a hidden state to be told of before.
  bool reading = true;                       // The prompt, or what was answered elsewhere.
  std::string certain;                       // Said since the last token that was told of.
  std::size_t told = 0;                      // Tokens.
  Clock::time_point begun;
  Clock::time_point first;  // When the first token was drawn.
};

// A sequence of the engine and what it has read.
struct GeneratorSlot {
  SequenceId sequence{};
  std::vector<Token> tokens;
  std::size_t unread = 0;  // How many of the last ones the engine has not been given.
  std::unique_ptr<RunningAnswer> answer;  // Null while the slot is free.
  std::uint64_t used = 0;                 // When its last answer ended, by the order of ends.

  // What the engine has read of it.
  [[nodiscard]] std::size_t read() const { return tokens.size() - unread; }
};

}  // namespace weft::llm
