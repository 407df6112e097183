// Answers in OpenAI's shapes: chunks of a stream as they come, or one document at the end.
//
//   AnswerText text(request, "chatcmpl-...", unix_seconds);
//   stream(text.begin()); ... stream(text.tokens(choice, tokens)); ... stream(text.end(choice, end)); stream(text.close());
// Without streaming the same calls give nothing, and document() the whole.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/coordinator/serving/openai.h"

namespace weft::coordinator {

class AnswerText {
 public:
  AnswerText(const OpenAiRequest& request, std::string id, std::int64_t created);

  [[nodiscard]] std::string begin();
  [[nodiscard]] std::string tokens(std::size_t choice, const std::vector<protocol::serving::Token>& tokens);
  // A failure is told in the stream as well.
  [[nodiscard]] std::string end(std::size_t choice, const AnswerEnd& end);
  // When all choices have ended.
  [[nodiscard]] std::string close() const;
  [[nodiscard]] std::string document() const;

  [[nodiscard]] std::size_t choices() const { return choices_.size(); }
  [[nodiscard]] std::uint64_t answer_tokens() const;

 private:
  struct Choice {
    std::string text;
    std::vector<protocol::serving::Token> tokens;  // With logprobs.
    AnswerEnd end;
  };
  [[nodiscard]] std::string head(bool chunk) const;
  [[nodiscard]] std::string chunk(std::size_t choice, const std::string& fields, const std::string& finish) const;
  [[nodiscard]] std::string logprobs(const std::vector<protocol::serving::Token>& tokens, std::size_t offset) const;
  [[nodiscard]] std::string usage() const;
  [[nodiscard]] std::string network() const;

  const bool chat_, stream_, include_usage_, logprobs_;
  const std::uint32_t n_;
  const std::string model_, id_;
  const std::int64_t created_;
  std::vector<Choice> choices_;
};

}  // namespace weft::coordinator
