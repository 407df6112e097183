// A request that is being answered, and the engine's sequence that answers it. Both are the state
// of the generator and its parts (generator.h), without any decisions.
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

// A request and its answer so far.
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

  // Adds text to the answer. False if the listener wants no more text.
  bool say(const std::string& text) {
    generation.text += text;
    if (request.on_token) certain += text;
    return text.empty() || !on_text || on_text(text);
  }
  // Calls on_token for the last token, once.
  void tell() {
    if (!request.on_token || told == generation.tokens.size()) return;
    told = generation.tokens.size();
    request.on_token(generation.tokens.back(), std::exchange(certain, {}));
  }
  bool wanted() const { return !request.wanted || request.wanted(); }
  // Returns the text that the token completes.
  [[nodiscard]] std::string text_of(Token token) {
    if (!std::ranges::contains(request.shown, token)) return decoder.push(token);
    return decoder.finish() + std::string(vocabulary.text(token));
  }
  // Adds the text of Request::answered without a call of on_text, because its listener has had it.
  void skip_answered() {
    for (const Token token : request.answered) generation.text += stops.push(text_of(token));
  }
  // True if a constraint or biases change the logits before a token is drawn.
  [[nodiscard]] bool is_shaped() const { return request.constraint || !request.bias.empty(); }
  // The number of tokens of the answer, with those of Request::answered.
  [[nodiscard]] std::size_t length() const {
    return request.answered.size() + generation.tokens.size();
  }
  // The number of tokens that are read before the next token can be drawn.
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
  // The mask of the tokens that the constraint allows, as the engine has it. mask_stays is the
  // number of tokens for which the mask has stayed the same.
  std::vector<std::uint64_t> mask{};
  std::uint32_t mask_stays = 0;
  std::optional<std::uint32_t> hidden_told;  // The length at which on_hidden was last called.
  std::optional<StopReason> ending;  // Set while the answer only waits for its last hidden state.
  bool reading = true;               // True while the prompt or Request::answered is being read.
  std::string certain;               // Text since the last call of on_token.
  std::size_t told = 0;              // The number of tokens that on_token was called for.
  Clock::time_point begun;
  Clock::time_point first;  // The time of the first drawn token.
};

// A sequence of the engine and the tokens that it holds.
struct GeneratorSlot {
  SequenceId sequence{};
  std::vector<Token> tokens;
  std::size_t unread = 0;  // The number of last tokens that the engine has not been given.
  std::unique_ptr<RunningAnswer> answer;  // Null while the slot is free.
  std::uint64_t used = 0;                 // Higher for a slot whose last answer ended later.

  // The number of the slot's tokens that the engine has read.
  [[nodiscard]] std::size_t read() const { return tokens.size() - unread; }
};

}  // namespace weft::llm
