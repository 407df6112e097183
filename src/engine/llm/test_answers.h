// An answer over an engine that computes nothing, with a record of the calls that its listener got.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/grammar/constraint.h"
#include "engine/llm/answer_progress.h"
#include "engine/llm/run_now.h"
#include "engine/llm/shaped_draws.h"
#include "engine/llm/test_counting_engine.h"

namespace weft::llm::test {

class AnswersTest : public testing::Test {
 protected:
  static const tokenizer::Tokenizer& tokenizer() { return small_tokenizer(); }
  static std::vector<Token> tokens(std::string_view text) {
    return tokenizer().encode(text, {}).value();
  }
  static Request asked(std::uint32_t tokens_max) {
    return {.prompt = {50, 51, 52}, .tokens_max = tokens_max};
  }
  // Begins an answer whose prompt has been read.
  GeneratorSlot& begin(Request request) {
    EXPECT_TRUE(queue_.add(
        std::move(request),
        [this](std::string_view text) {
          heard_ += text;
          return listens_;
        },
        [this](Result<Generation> done) { done_.emplace(std::move(done)); }));
    EXPECT_TRUE(queue_.admit());
    GeneratorSlot& slot = *slots_.all().back();
    slot.tokens = slot.answer->request.prompt;
    slot.answer->reading = false;
    engine_.lengths.at(slot.sequence) = 3;
    return slot;
  }
  // Lets the engine draw these tokens one by one, until the answer ends.
  void draw(GeneratorSlot& slot, const std::vector<Token>& drawn) {
    for (const Token token : drawn) {
      if (!slot.answer) return;
      ++engine_.lengths.at(slot.sequence);
      ASSERT_TRUE(run_now(progress_.take_drawn(slot, {.token = token, .logprob = -1}, {})));
    }
  }
  std::shared_ptr<grammar::Constraint> held_to(const std::string& rule) {
    return grammars_.begin(rule, {}).value();
  }

  CountingEngine engine_{2, 3000};
  grammar::Grammars grammars_{tokenizer()};
  SequenceSlots slots_{engine_};
  AnswerQueue queue_{engine_, tokenizer(), slots_};
  AnswerReader reader_{engine_, tokenizer().vocabulary(), {}};
  AnswerProgress progress_{engine_, tokenizer().vocabulary(), slots_, reader_, queue_};
  ShapedDraws shaped_{engine_, reader_, progress_};
  std::string heard_;
  bool listens_ = true;
  std::optional<Result<Generation>> done_;
};

}  // namespace weft::llm::test
