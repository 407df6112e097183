// Draws tokens for requests with a constraint or a bias, among the allowed tokens: either the
// engine draws under a mask, or ShapedDraws samples the token from the engine's logits.
//
// Threading: the engine's thread. Lifetime: the parts that it is made from outlive it. Errors: the
// engine's errors; if a constraint allows no token, only its answer fails.
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

  // Gives the engine the slot's unread tokens, and then the mask of the tokens that the constraint
  // allows next.
  [[nodiscard]] Async<Result<>> mask(GeneratorSlot& slot);
  // Samples a token from the engine's logits, adds it to the answer, and ends the answer if the
  // token is an end.
  [[nodiscard]] Async<Result<>> draw(GeneratorSlot& slot);

 private:
  [[nodiscard]] Result<Drawn> sample(const GeneratorSlot& slot, std::span<const float> logits);

  Engine& engine_;
  AnswerReader& reader_;
  AnswerProgress& progress_;
  Sampler sampler_;
  std::vector<float> shaped_;  // Logits with biases; a member so that its memory is reused.
};

}  // namespace weft::llm
