// The request that a generator gets and the answer that it gives (generator.h). Plain data.
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
  std::string text;   // The characters that the token completes; empty if the token ends the text.
  float logprob = 0;  // 0 if a constraint limits the answer and Request::top is 0.
  std::vector<Drawn> top{};  // The candidates with the highest logits, best first.
};

struct Request {
  // Is called for every token when it is drawn, with the part of the answer's text that the token
  // made certain. All parts together are the text of the answer.
  using OnToken = std::function<void(const GeneratedToken& token, std::string_view text)>;

  std::vector<Token> prompt;
  // The beginning of an answer that another engine began and this engine continues. Its tokens
  // count towards tokens_max.
  std::vector<Token> answered{};
  std::uint32_t tokens_max = 128;
  Sampling sampling{};
  std::vector<std::string> stop{};  // The answer ends before the first of these texts.
  std::uint32_t top = 0;            // The number of best candidates to report for every token.
  std::vector<TokenBias> bias{};    // Added to the logits before any other change.
  // The constraint that the answer satisfies; no other request may use it. If it leaves only one
  // choice for the next tokens, they are read together, in one pass, and have the log-probability
  // 0; if candidates are asked for (top), each token has a pass of its own. If the answer can only
  // end, it is ended (eos), without a token for the end.
  std::shared_ptr<grammar::Constraint> constraint{};
  std::vector<Token> shown{};  // Control tokens that the text shows by name.
  OnToken on_token{};
  // Is called with the final hidden state [embedding] after the prompt and `tokens` tokens of the
  // answer: after every hidden_every tokens, beginning with 0, and after the last token if the
  // answer was not cancelled. Is also called if the model only reads the answer (answered has
  // tokens_max tokens).
  std::function<void(std::uint32_t tokens, std::span<const float> hidden)> on_hidden{};
  std::uint32_t hidden_every = 32;
  // Is called for an answer that is read and not drawn (answered has tokens_max tokens): each of
  // its tokens is drawn again, and `doubtful` are the indices, in ascending order, of the tokens
  // that the settings do not give (redraw.h) if hidden states may differ by redraw_error.
  // `doubtful` has at most redraw_doubts_max indices.
  std::function<void(const std::vector<std::uint32_t>& doubtful)> on_redrawn{};
  double redraw_error = 0;
  // Called before every token and every part of the prompt; false ends the answer.
  std::function<bool()> wanted{};
};

inline constexpr std::size_t redraw_doubts_max = 64;
// The most tokens that a constraint fixes at a time.
inline constexpr std::size_t forced_max = 256;

enum class StopReason : std::uint8_t {
  eos,        // The model ended the text.
  length,     // The answer has tokens_max tokens, or the context is full.
  stop,       // A stop text occurred in the answer.
  cancelled,  // The callback on_text or `wanted` returned false.
};
[[nodiscard]] std::string_view to_string(StopReason reason);

struct Generation {
  // The tokens of the answer, with the token that ended the text and without Request::answered.
  std::vector<GeneratedToken> tokens;
  std::string text;  // The text of the answer, without the stop text.
  StopReason stop = StopReason::length;
  std::uint32_t sequence = 0;  // The engine's sequence; frames of a chain name it by this number.
  std::uint32_t reused_tokens = 0;   // Prompt tokens that an earlier request left in the cache.
  std::uint32_t prefill_tokens = 0;  // Prompt tokens that were read for this answer.
  double prefill_s = 0;              // Seconds until the first token was drawn.
  double decode_s = 0;               // Seconds from the first token to the end.
};

}  // namespace weft::llm
