// Answers requests with an engine: many at once, each with its own sampling, stop texts and bounds.
// Requests join and leave between steps. A step reads a part of each prompt that is being read, and
// draws a token for each of the other requests, in one draw. The number of requests that are
// answered at a time is limited by the engine's sequences and memory; memory for a whole answer is
// reserved before the answer begins. A sequence keeps the positions that it has read as long as
// there is memory. A request with the same beginning continues that sequence, or shares its
// positions if the sequence still belongs to a running answer. Neither a conversation nor a common
// beginning of many requests is therefore read twice.
//
//   Generator generator(engine, tokenizer);
//   WEFT_CO_ASSIGN(const Generation answer,
//                  co_await generator.generate({.prompt = tokens, .tokens_max = 64}, on_text));
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
    // The most tokens of a prompt that are read at once; a request can end between two parts.
    std::uint32_t append_max = ~0u;
    // The most tokens of Request::answered that are read in the passes in which they were drawn,
    // one by one, so that the logits after them, and so the next tokens, are the same to the last
    // bit. Longer answers are read in parts of append_max, as a prompt is.
    std::uint32_t replay_max = 256;
    // True if the engine's results do not depend on how many tokens it reads at once, as on the
    // CPU. An answer of any length is then read in parts of append_max without a loss of exactness.
    bool exact_in_parts = false;
  };

  Generator(Engine& engine, const tokenizer::Tokenizer& tokenizer, Options options);
  Generator(Engine& engine, const tokenizer::Tokenizer& tokenizer)
      : Generator(engine, tokenizer, Options{}) {}
  Generator(const Generator&) = delete;
  ~Generator();

  // Queues a request, which run() answers. Fails at once for a request that can never be answered:
  // an empty prompt, a prompt that does not fit into the context, or a parameter outside its range.
  [[nodiscard]] Result<> add(Request request, OnText on_text, OnDone on_done);
  // Answers all queued requests, including those that are added meanwhile. A second run() must not
  // begin before the first has ended.
  [[nodiscard]] Async<Result<>> run();
  // Adds the request and runs the generator.
  [[nodiscard]] Async<Result<Generation>> generate(Request request, OnText on_text = {});

 private:
  using Slot = GeneratorSlot;

  // The slots that get a token in one step, by how they draw it.
  struct Turn {
    std::vector<Slot*> drawn;   // The slots that the engine draws together.
    std::vector<Slot*> shaped;  // Slots drawn one by one, from logits.
    // The number of draws of the slots in `drawn` that are likely to follow.
    std::uint32_t more = ~0u;
    std::size_t masked = 0;
    // The number of last tokens for which no mask of the slots has changed.
    std::uint32_t mask_stays = ~0u;
  };

  // Reads a part of a prompt for each slot that is reading its prompt, until append_max tokens are
  // read. The other slots then draw a token before the next parts are read.
  [[nodiscard]] Async<Result<>> read_prompts();
  // Reads a part of the slot's prompt and takes the number of its tokens from `left`.
  [[nodiscard]] Async<Result<>> read_part(Slot& slot, std::uint64_t& left);
  [[nodiscard]] Async<Result<>> begin_drawing(Slot& slot);
  // Draws one token for every sequence that is being answered.
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
