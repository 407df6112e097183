// Writes one answer: numbers of tokens, as workers send them, become its text. What a client reads
// of an answer comes from here and from nowhere else.
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

// A token as a client is told of it.
struct SaidToken {
  std::int32_t id = 0;
  double logprob = 0;
  std::string text{};   // The answer, as far as it became certain by this token.
  std::string piece{};  // The bytes of the token by itself; empty for one that ends the answer.
  struct Other {
    double logprob = 0;
    std::string piece{};
  };
  std::vector<Other> top{};  // Best first.
};

class AnswerWriter {
 public:
  struct Options {
    std::vector<std::string> stop{};  // The answer ends before the first of these.
    bool shows_calls = false;         // Tokens that mark calls of tools are written.
    bool begins_in_thought = false;   // As its prompt ends within one.
  };
  AnswerWriter(std::shared_ptr<const TokenTexts> tokens, Options options);

  [[nodiscard]] std::vector<SaidToken> write(std::span<const protocol::serving::Token> tokens);
  // What was held back, at the end.
  [[nodiscard]] std::string finish();
  // A stop text was found: nothing more is said.
  // The last token was one that ends answers.
  [[nodiscard]] bool at_end() const { return at_end_; }
  // Whether a worker, which writes no calls of tools, may have found a stop text.
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
