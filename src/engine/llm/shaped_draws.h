// Draws of requests with a constraint or a bias: among what is allowed, by the engine under a mask,
// or here from its logits.
//
// Threading: the engine's thread. Lifetime: what it is made from outlives it. Errors: the engine's;
// an answer whose constraint allows nothing fails alone.
#pragma once

#include <span>
#include <vector>

#include "common/base/async.h"
#include "common/base/result.h"
#include "engine/llm/answer_progress.h"
#include "engine/llm/answer_reader.h"
#include "engine/llm/engine.h"
#include "engine/llm/running_answer.h"
#include "engine/llm/sampler.h"

namespace weft::llm {

class ShapedDraws {
 public:
  ShapedDraws(Engine& engine, AnswerReader& reader, AnswerProgress& progress)
      : engine_(engine), reader_(reader), progress_(progress) {}

  // What the constraint allows next goes to the engine, when all tokens before it are read.
  [[nodiscard]] Async<Result<>> mask(GeneratorSlot& slot);
  // A token that is sampled here, and the end of the answer where it is one.
  [[nodiscard]] Async<Result<>> draw(GeneratorSlot& slot);

 private:
  [[nodiscard]] Result<Drawn> sample(const GeneratorSlot& slot, std::span<const float> logits);

  Engine& engine_;
  AnswerReader& reader_;
  AnswerProgress& progress_;
  Sampler sampler_;
  std::vector<float> shaped_;  // Logits; kept for their memory.
};

}  // namespace weft::llm
