// Writes answers in the formats of OpenAI's chat completions and completions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/coordinator/http/answer_form.h"

namespace weft::coordinator {

class AnswerText final : public AnswerForm {
 public:
  AnswerText(const OpenAiRequest& request, std::string id, std::int64_t created);

  [[nodiscard]] std::string begin() override;
  [[nodiscard]] std::string tokens(std::size_t choice,
                                   const std::vector<SaidToken>& tokens) override;
  [[nodiscard]] std::string end(std::size_t choice, const inference::AnswerEnd& end) override;
  [[nodiscard]] std::string close() override;
  [[nodiscard]] std::string document() override;

  [[nodiscard]] std::size_t choices() const override { return choices_.size(); }
  [[nodiscard]] std::uint64_t answer_tokens() const;

 private:
  struct Call {
    std::string id, name, arguments;
  };
  struct Choice {
    tools::AnswerParser parser;
    std::string text;
    std::string thought;
    std::vector<Call> calls;
    std::vector<SaidToken> tokens;  // Kept only if the client wants logprobs.
    inference::AnswerEnd end;
  };
  // Stores the pieces in the choice and returns them as the members of a stream's delta. Returns ""
  // if `pieces` is empty.
  [[nodiscard]] std::string keep(std::size_t choice, const std::vector<tools::Piece>& pieces);
  [[nodiscard]] std::string finish_of(const Choice& choice) const;
  [[nodiscard]] std::string head(bool chunk) const;
  [[nodiscard]] std::string chunk(std::size_t choice, const std::string& fields,
                                  const std::string& finish, const std::string& network = {}) const;
  [[nodiscard]] std::string logprobs(const std::vector<SaidToken>& tokens,
                                     std::size_t offset) const;
  [[nodiscard]] std::string usage() const;

  const bool chat_, stream_, include_usage_, logprobs_;
  const std::uint32_t n_, top_;
  const std::string model_, id_;
  const std::int64_t created_;
  std::vector<Choice> choices_;
};

}  // namespace weft::coordinator
