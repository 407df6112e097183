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

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/base/async.h"
#include "common/base/result.h"
#include "engine/llm/answer_progress.h"
#include "engine/llm/answer_queue.h"
#include "engine/llm/answer_reader.h"
#include "engine/llm/engine.h"
#include "engine/llm/generation.h"
#include "engine/llm/running_answer.h"
#include "engine/llm/sequence_slots.h"
#include "engine/llm/shaped_draws.h"
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

  // The answers of one step, and how they draw.
  struct Turn {
    std::vector<Slot*> drawn;   // Together, by the engine.
    std::vector<Slot*> shaped;  // From logits, one by one.
    // Draws of the same ones that are likely to follow.
    std::uint32_t more = ~0u;
    std::size_t masked = 0;
    std::uint32_t mask_stays = ~0u;  // For how many tokens all masks have stayed the same.
  };

  // A part of a prompt for each slot that reads one, until as many tokens are read as a part may
  // have: the others draw a token before it goes on.
  [[nodiscard]] Async<Result<>> read_prompts();
  // Takes the tokens that it reads from `left`.
  [[nodiscard]] Async<Result<>> read_part(Slot& slot, std::uint64_t& left);
  [[nodiscard]] Async<Result<>> begin_drawing(Slot& slot);
  // One token for every sequence that is being answered.
  [[nodiscard]] Async<Result<>> step();
  [[nodiscard]] Async<Result<>> gather(Turn& turn);
  [[nodiscard]] Async<Result<>> draw_together(Turn& turn);
  void fail_all(const Error& error);

  Engine& engine_;
  const Options options_;
  SequenceSlots slots_;
  AnswerQueue queue_;
  AnswerReader reader_;
  AnswerProgress progress_;
  ShapedDraws shaped_;
  bool running_ = false;
};

}  // namespace weft::llm
