// Turns the token ids of one answer, as workers send them, into text. All text of an answer that a
// client reads is made here.
//
// Threading: one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "apps/coordinator/http/token_texts.h"
#include "common/protocol/serving.h"
#include "common/tools/stop_text.h"
#include "common/tools/whole_text.h"

namespace weft::coordinator {

// A token in the form in which a client gets it.
struct SaidToken {
  std::int32_t id = 0;
  double logprob = 0;
  std::string text{};   // Answer text that this token completed.
  std::string piece{};  // The token's own bytes; empty for an end token.
  struct Other {
    double logprob = 0;
    std::string piece{};
  };
  std::vector<Other> top{};  // Other candidates, the most likely one first.
};

class AnswerWriter {
 public:
  struct Options {
    std::vector<std::string> stop{};  // The answer ends at the first of these texts.
    bool shows_calls = false;         // Writes the tokens that mark tool calls.
    bool begins_in_thought = false;   // True if the prompt ends inside a thought.
  };
  AnswerWriter(std::shared_ptr<const TokenTexts> tokens, Options options);

  [[nodiscard]] std::vector<SaidToken> write(std::span<const protocol::serving::Token> tokens);
  // Returns the text that was held back because it could have been part of a stop text or
  // character.
  [[nodiscard]] std::string finish();
  // True if the last token ends an answer.
  [[nodiscard]] bool at_end() const { return at_end_; }
  // True if a worker may have found a stop text. If the answer shows tool calls, this is always
  // true, because the worker's text lacks the calls and may differ from the answer's text.
  [[nodiscard]] bool may_have_stopped() const { return stops_.found() || shows_calls_; }
  [[nodiscard]] bool stopped() const { return stops_.found(); }

 private:
  [[nodiscard]] std::string text_of(std::int32_t token);

  const std::shared_ptr<const TokenTexts> tokens_;
  const bool shows_calls_;
  bool begins_in_thought_;
  bool at_end_ = false;
  tools::WholeText whole_;
  tools::StopText stops_;
};

}  // namespace weft::coordinator
