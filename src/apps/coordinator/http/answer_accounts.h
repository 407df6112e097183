// What the core and the serving of models tell each other about answers: which are charged, which
// have ended, what audits came to. Plain data.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "decisions/billing/answers.h"

namespace weft::coordinator {

// A request that was admitted with an API key: an id for each of its answers, and what its reply
// says of the key's rates.
struct ChargedAnswers {
  std::vector<billing::AnswerId> answers;
  std::map<std::string, std::string> headers;
};

// Told of every answer that has ended, of audits and of searches for a guilty stage, on the thread
// of inference.
struct AnswerListener {
  std::function<void(billing::AnswerReport)> ended;
  std::function<void(billing::AnswerAudited)> audited;
  std::function<void(billing::AnswerTraced)> traced;
};

}  // namespace weft::coordinator
