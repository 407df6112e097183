// The shape in which a client is answered: events of a stream as tokens come, or one document at
// the end. Which one follows from the request's route.
//
//   const auto form = make_answer_form(request, unix_seconds);
//   stream(form->begin()); ... stream(form->tokens(choice, tokens)); ... stream(form->end(choice,
//   end)); stream(form->close());
// Without streaming the same calls give nothing, and document() the whole.
//
// Threading: one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "apps/coordinator/http/answer_writer.h"
#include "apps/coordinator/http/openai.h"

namespace weft::coordinator {

class AnswerForm {
 public:
  virtual ~AnswerForm() = default;

  [[nodiscard]] virtual std::string begin() = 0;
  [[nodiscard]] virtual std::string tokens(std::size_t choice,
                                           const std::vector<SaidToken>& tokens) = 0;
  // What a look found, before its end.
  virtual void tell(Told) {}
  // A failure is told in the stream as well.
  [[nodiscard]] virtual std::string end(std::size_t choice, const inference::AnswerEnd& end) = 0;
  // When all choices have ended.
  [[nodiscard]] virtual std::string close() = 0;
  [[nodiscard]] virtual std::string document() = 0;

  [[nodiscard]] virtual std::size_t choices() const = 0;
};

// `created` in seconds since 1970.
[[nodiscard]] std::unique_ptr<AnswerForm> make_answer_form(const OpenAiRequest& request,
                                                           std::int64_t created);

// The workers that answered: not part of OpenAI's interface, whose clients pass over it.
[[nodiscard]] std::string network_json(const inference::AnswerEnd& end);

}  // namespace weft::coordinator
