// Answers requests with an engine: many at once, each with its own sampling, stop texts and bounds.
// Requests join and leave between steps: a step reads a part of the prompts that are being read,
// and draws a token for each of the others, together. As many are answered at a time as the engine
// has sequences and memory for, which is set aside for the whole of an answer before it begins. A
// sequence stays with what it has read while memory lasts, and a request that begins the same way
// goes on from there, or shares it with one that is being answered, so that neither a conversation
// nor what many requests begin with is read again.
//
//   Generator generator(engine, tokenizer);
//   WEFT_CO_ASSIGN(const Generation answer, co_await generator.generate({.prompt = tokens,
//   .tokens_max = 64}, on_text));
//
// Threading: the engine's thread. Lifetime: engine and tokenizer outlive the generator.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/async.h"
#include "common/base/result.h"
#include "engine/grammar/constraint.h"
#include "engine/llm/engine.h"
#include "engine/llm/sampler.h"
#include "engine/tokenizer/tokenizer.h"

namespace weft::llm {

struct TokenBias {
  Token token = 0;
  float bias = 0;
};

struct GeneratedToken {
  Token id = 0;
  std::string text;  // The characters that it completes; none for one that ends the text.
  float logprob = 0;
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
  SequenceId sequence{};             // The engine's; frames of a chain name it by this number.
  std::uint32_t reused_tokens = 0;   // Prompt tokens that an earlier request left in the cache.
  std::uint32_t prefill_tokens = 0;  // Prompt tokens that were read now.
  double prefill_s = 0;              // Until the first token was drawn.
  double decode_s = 0;               // From there to the last.
};

class Generator {
 public:
  // Gets the text of the answer as it becomes certain; false ends the answer.
  using OnText = std::function<bool(std::string_view text)>;
  using OnDone = std::function<void(Result<Generation> generation)>;
  struct Options {
    std::uint32_t append_max =
        ~0u;  // Tokens of a prompt that are read at once; a request can end between two parts.
    // Tokens of Request::answered that are read one by one, as they were when they were drawn: the
    // numbers behind them, and so the tokens, are then the same to the last bit. Longer ones are
    // read as a prompt is.
    std::uint32_t replay_max = 256;
    // The engine's numbers are the same however many tokens it reads at once, as the CPU's are: an
    // answer is then read in parts of append_max, as exactly, whatever its length.
    bool exact_in_parts = false;
  };

  Generator(Engine& engine, const tokenizer::Tokenizer& tokenizer, Options options);
  Generator(Engine& engine, const tokenizer::Tokenizer& tokenizer)
      : Generator(engine, tokenizer, Options{}) {}
  Generator(const Generator&) = delete;
  ~Generator();

  // Queues a request; run() answers it. Fails at once where it never can: an empty prompt, one
  // beyond the context, bad numbers.
  [[nodiscard]] Result<> add(Request request, OnText on_text, OnDone on_done);
  // Answers everything that is queued, also what is added meanwhile. One at a time.
  [[nodiscard]] Async<Result<>> run();
  // add() and run().
  [[nodiscard]] Async<Result<Generation>> generate(Request request, OnText on_text = {});

 private:
  struct Answer;
  struct Slot;

  [[nodiscard]] Result<> check_request(const Request& request) const;
  [[nodiscard]] Slot* free_slot_for(const std::vector<Token>& prompt);
  [[nodiscard]] Slot* fresh_slot();
  [[nodiscard]] std::uint32_t begin_with_what_is_read(Slot& slot, const std::vector<Token>& prompt);
  [[nodiscard]] Result<> reserve(Slot& slot, const Request& request);
  [[nodiscard]] Result<> admit();
  void begin(Slot& slot, std::unique_ptr<Answer> answer, std::uint32_t kept);
  [[nodiscard]] Async<Result<>> read_prompts();
  [[nodiscard]] bool keeps_hidden(const Slot& slot) const;
  [[nodiscard]] Async<Result<>> replay(Slot& slot);
  [[nodiscard]] Async<Result<>> replay_shaped(Slot& slot);
  // Reads what was answered and draws it again (answer_redraw.h).
  [[nodiscard]] Async<Result<>> redraw(Slot& slot);
  [[nodiscard]] Async<Result<>> step();
  // A token for a request with a bias or a constraint, which is sampled here, from the logits.
  [[nodiscard]] Async<Result<>> step_shaped(Slot& slot);
  [[nodiscard]] Result<Drawn> sample(Slot& slot, std::span<const float> logits);
  // Takes the tokens that a constraint leaves no choice about, and ends what can only end.
  [[nodiscard]] Result<> take_forced(Slot& slot);
  // Gives the engine what was taken and not drawn by it.
  [[nodiscard]] Async<Result<>> feed(Slot& slot, bool tells);
  void fail_answer(Slot& slot, const Error& error);
  void take(Slot& slot, const Drawn& drawn, std::vector<Drawn> top);
  [[nodiscard]] Async<Result<>> take_drawn(Slot& slot, const Drawn& drawn, std::vector<Drawn> top);
  void end(Slot& slot, StopReason reason);
  // Tells of the hidden state behind what the slot has read, once for each length.
  [[nodiscard]] Async<Result<>> tell_hidden(Slot& slot);
  [[nodiscard]] Async<Result<>> finish(Slot& slot, StopReason reason);
  void drop_unwanted();
  void fail_all(const Error& error);

  Engine& engine_;
  const tokenizer::Tokenizer& tokenizer_;
  const Options options_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::deque<std::unique_ptr<Answer>> waiting_;
  bool running_ = false;
  bool lacks_memory_ = false;  // For the first that waits, until an answer ends.
  std::uint64_t uses_ = 0;
  Sampler sampler_;
  std::vector<float> shaped_;  // Logits; kept for their memory.
};

}  // namespace weft::llm
