// What moves money for an answer of a language model: the most that it can cost is set aside, and
// when it has ended those who gave it are paid out of that and the rest goes back. An answer has an
// escrow of its own, named by an id as a job's is.
//
// Its transactions belong to the answer's id in the ledger's memory (Ledger::close() forgets them);
// in the store they belong to no job, and their keys, which hold an id that is drawn once, are not
// read again.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "common/records/transaction.h"

namespace weft::ledger {

// What `tokens` cost at `price` for a thousand, rounded up.
[[nodiscard]] MicroCredits price_of_tokens(std::uint64_t tokens, MicroCredits price);

// Out of what the client has (`has`), granted credits first. Key "answer-open:ID".
[[nodiscard]] Transaction open_answer(const JobId& answer, const OwnerId& client,
                                      MicroCredits amount, std::string_view model,
                                      const Funds& has);

// `work`: tokens * layers of one worker.
struct AnswerWork {
  OwnerId worker;  // Its owner.
  std::uint64_t work = 0;
  friend bool operator==(const AnswerWork&, const AnswerWork&) = default;
};
struct AnswerPay {
  JobId answer;
  OwnerId client;
  Funds held;            // Its escrow.
  MicroCredits due = 0;  // At most all that is held is paid.
  std::uint64_t tokens = 0;
};
// What is due to the workers in proportion to their work, rounded down; the rest back to the
// client. Without work all goes back. Key "answer-end:ID": an answer ends once.
[[nodiscard]] Transaction end_answer(const AnswerPay& pay, std::span<const AnswerWork> workers,
                                     std::string_view why);
// What end_answer() pays to workers in all.
[[nodiscard]] MicroCredits paid_for_answer(const AnswerPay& pay,
                                           std::span<const AnswerWork> workers);

// Credits that the operator gives with an API key; granted ones. Key "grant-key:ID".
[[nodiscard]] Transaction grant_with_key(std::string_view key, const OwnerId& client,
                                         MicroCredits amount);

}  // namespace weft::ledger
