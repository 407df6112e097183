// The transactions for an answer of a language model. The most that the answer can cost is set
// aside. When the answer has ended, its workers are paid out of this amount, and the rest goes
// back. Like a job, an answer has its own escrow, which is named by the answer's id.
//
// The transactions belong to the answer's id in the ledger's memory (Ledger::close() forgets them).
// In the store they belong to no job. Their keys are not read again, because an answer's id is
// random and used only once.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "common/records/transaction.h"

namespace weft::ledger {

// The price of `tokens` tokens at `price` for 1,000, rounded up.
[[nodiscard]] MicroCredits price_of_tokens(std::uint64_t tokens, MicroCredits price);

// Sets `amount` aside out of the client's funds (`has`), granted credits first. The transaction's
// key is "answer-open:ID".
[[nodiscard]] Transaction open_answer(const JobId& answer, const OwnerId& client,
                                      MicroCredits amount, std::string_view model,
                                      const Funds& has);

// The work of one worker: tokens * layers.
struct AnswerWork {
  OwnerId worker;  // The worker's owner.
  std::uint64_t work = 0;
  friend bool operator==(const AnswerWork&, const AnswerWork&) = default;
};
struct AnswerPay {
  JobId answer;
  OwnerId client;
  Funds held;            // The credits in the answer's escrow.
  MicroCredits due = 0;  // The pay of all workers; at most `held` is paid.
  std::uint64_t tokens = 0;
};
// Pays the workers their part of `due` in proportion to their work, rounded down, and the client
// the rest. Without work everything goes back to the client. The transaction's key is
// "answer-end:ID", so that an answer ends only once.
[[nodiscard]] Transaction end_answer(const AnswerPay& pay, std::span<const AnswerWork> workers,
                                     std::string_view why);
// The amount that end_answer() pays to all workers together.
[[nodiscard]] MicroCredits paid_for_answer(const AnswerPay& pay,
                                           std::span<const AnswerWork> workers);

// Grants credits that the operator gives with an API key. The transaction's key is "grant-key:ID".
[[nodiscard]] Transaction grant_with_key(std::string_view key, const OwnerId& client,
                                         MicroCredits amount);

}  // namespace weft::ledger
