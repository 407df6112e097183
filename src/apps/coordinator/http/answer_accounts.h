// Plain data that the core and the model service exchange about answers: which answers are charged,
// which have ended, and the results of audits.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "decisions/billing/answers.h"

namespace weft::coordinator {

// The answers of one request that was admitted with an API key: an id for each answer, and the
// reply headers with the key's rate limits.
struct ChargedAnswers {
  std::vector<billing::AnswerId> answers;
  std::map<std::string, std::string> headers;
};

// Callbacks for ended answers and for results of audits, on the thread of inference.
struct AnswerListener {
  std::function<void(billing::AnswerReport)> ended{};
  std::function<void(billing::AnswerAudited)> audited{};
  std::function<void(billing::AnswerTraced)> traced{};  // A search for the guilty stage has ended.
};

}  // namespace weft::coordinator
