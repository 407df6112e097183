// Writes answers in the format of a route: events of a stream as tokens come, or one document at
// the end. The request's route chooses the format.
//
//   const auto form = make_answer_form(request, unix_seconds);
//   stream(form->begin()); ... stream(form->tokens(choice, tokens)); ... stream(form->end(choice,
//   end)); stream(form->close());
//
// If the request does not stream, these calls return nothing, and document() returns the whole
// answer.
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
  // Takes the result of a look (a request without generation, looks.h). Called before end().
  virtual void tell(Told) {}
  // Ends one choice. A stream also reports a failure here.
  [[nodiscard]] virtual std::string end(std::size_t choice, const inference::AnswerEnd& end) = 0;
  // Ends the stream. Called after all choices have ended.
  [[nodiscard]] virtual std::string close() = 0;
  [[nodiscard]] virtual std::string document() = 0;

  [[nodiscard]] virtual std::size_t choices() const = 0;
};

// Makes the format for the request's route. `created` is in seconds since 1970.
[[nodiscard]] std::unique_ptr<AnswerForm> make_answer_form(const OpenAiRequest& request,
                                                           std::int64_t created);

// The workers that computed the answer, as JSON. This member is not part of OpenAI's interface;
// OpenAI's clients ignore it.
[[nodiscard]] std::string network_json(const inference::AnswerEnd& end);

}  // namespace weft::coordinator
