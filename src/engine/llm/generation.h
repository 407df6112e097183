// What a generator is asked for and what it answers (generator.h). Plain data.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/grammar/constraint.h"
#include "engine/llm/engine.h"
#include "engine/llm/types.h"

namespace weft::llm {

struct TokenBias {
  Token token = 0;
  float bias = 0;
};

struct GeneratedToken {
  Token id = 0;
  std::string text;          // The characters that it completes; none for one that ends the text.
  float logprob = 0;         // 0 where a constraint holds the answer and Request::top is 0.
  std::vector<Drawn> top{};  // Best first.
};

struct Request {
  // Hears of every token when it is drawn, with the text of the answer that became certain by it;
  // the texts together are the answer's.
  using OnToken = std::function<void(const GeneratedToken& token, std::string_view text)>;

  std::vector<Token> prompt;
  std::vector<Token> answered{};  // The answer so far, drawn elsewhere: this one continues after
                                  // it. Counted in tokens_max.
  std::uint32_t tokens_max = 128;
  Sampling sampling{};
  std::vector<std::string> stop{};  // The answer ends before the first of these.
  std::uint32_t top = 0;            // Best candidates to report for every token.
  std::vector<TokenBias> bias{};    // Added to logits before anything else.
  // What the answer is held to; belongs to this request. Tokens that it leaves no choice about are
  // read together, in one pass, and have the log-probability 0; where candidates are asked for
  // (top) each has a pass. An answer that can only end has ended (eos), without a token for it.
  std::shared_ptr<grammar::Constraint> constraint{};
  std::vector<Token> shown{};  // Control tokens that the text is to name.
  OnToken on_token{};
  // Hears of the final hidden state [embedding] behind the prompt and so many tokens of the answer:
  // behind every hidden_every of them, from 0 on, and behind the last one where the answer came to
  // its end by itself. Where the model is read without drawing (answered has tokens_max tokens) as
  // well.
  std::function<void(std::uint32_t tokens, std::span<const float> hidden)> on_hidden{};
  std::uint32_t hidden_every = 32;
  // An answer that is read and not drawn (answered has tokens_max tokens): each of its tokens is
  // drawn again, and this hears which of them the settings do not give (redraw.h), ascending, where
  // hidden states may be redraw_error apart. At most redraw_doubts_max are named.
  std::function<void(const std::vector<std::uint32_t>& doubtful)> on_redrawn{};
  double redraw_error = 0;
  std::function<bool()>
      wanted{};  // Asked before every token and every part of the prompt; false ends the answer.
};

inline constexpr std::size_t redraw_doubts_max = 64;
inline constexpr std::size_t forced_max = 256;  // Tokens that a constraint fixes at a time.

enum class StopReason : std::uint8_t {
  eos,        // The model ended the text.
  length,     // tokens_max, or the context is full.
  stop,       // A stop text.
  cancelled,  // on_text or wanted said so.
};
[[nodiscard]] std::string_view to_string(StopReason reason);

struct Generation {
  std::vector<GeneratedToken>
      tokens;        // The one that ended the text included, Request::answered not.
  std::string text;  // Without the stop text.
  StopReason stop = StopReason::length;
  std::uint32_t sequence = 0;        // The engine's; frames of a chain name it by this number.
  std::uint32_t reused_tokens = 0;   // Prompt tokens that an earlier request left in the cache.
  std::uint32_t prefill_tokens = 0;  // Prompt tokens that were read now.
  double prefill_s = 0;              // Until the first token was drawn.
  double decode_s = 0;               // From there to the last.
};

}  // namespace weft::llm
