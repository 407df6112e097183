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
#include <memory>
#include <span>
#include <vector>

#include "common/base/async.h"
#include "common/base/result.h"
#include "engine/llm/answer_reader.h"
#include "engine/llm/engine.h"
#include "engine/llm/generation.h"
#include "engine/llm/running_answer.h"
#include "engine/llm/sampler.h"
#include "engine/llm/sequence_slots.h"
#include "engine/tokenizer/tokenizer.h"

namespace weft::llm {

class Generator {
 public:
  using OnText = RunningAnswer::OnText;
  using OnDone = RunningAnswer::OnDone;
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
  using Slot = GeneratorSlot;

  [[nodiscard]] Result<> check_request(const Request& request) const;
  [[nodiscard]] Result<> admit();
  void begin(Slot& slot, std::unique_ptr<RunningAnswer> answer, std::uint32_t kept);
  [[nodiscard]] Async<Result<>> read_prompts();
  [[nodiscard]] Async<Result<>> step();
  // What the constraint allows next goes to the engine, when all tokens before it are read.
  [[nodiscard]] Async<Result<>> mask(Slot& slot);
  // A token for a request with a bias or a constraint, which is sampled here, from the logits.
  [[nodiscard]] Async<Result<>> step_shaped(Slot& slot);
  [[nodiscard]] Result<Drawn> sample(Slot& slot, std::span<const float> logits);
  // What the engine drew for a request with a constraint, and what the constraint fixes behind it.
  [[nodiscard]] Async<Result<>> take_masked(Slot& slot, Token token);
  // Takes the tokens that a constraint leaves no choice about, and ends what can only end.
  [[nodiscard]] Result<> take_forced(Slot& slot);
  void fail_answer(Slot& slot, const Error& error);
  void take(Slot& slot, const Drawn& drawn, std::vector<Drawn> top);
  [[nodiscard]] Async<Result<>> take_drawn(Slot& slot, const Drawn& drawn, std::vector<Drawn> top);
  void end(Slot& slot, StopReason reason);
  [[nodiscard]] Async<Result<>> finish(Slot& slot, StopReason reason);
  void drop_unwanted();
  void fail_all(const Error& error);

  Engine& engine_;
  const tokenizer::Tokenizer& tokenizer_;
  const Options options_;
  SequenceSlots slots_;
  AnswerReader reader_;
  std::deque<std::unique_ptr<RunningAnswer>> waiting_;
  bool running_ = false;
  bool lacks_memory_ = false;  // For the first that waits, until an answer ends.
  Sampler sampler_;
  std::vector<float> shaped_;  // Logits; kept for their memory.
};

}  // namespace weft::llm
