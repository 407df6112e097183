// The money of an answer: the amount that is set aside for it, and the workers or the client that
// get the amount when the answer has ended.
//
// Threading: one thread. Invariant: an answer's escrow is empty when it has ended.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "decisions/billing/answers.h"
#include "decisions/jobs/core_tables.h"
#include "decisions/ledger/answer_pay.h"

namespace weft::jobs {

class CompletionPay {
 public:
  explicit CompletionPay(CoreTables& tables) : tables_(tables) {}
  CompletionPay(const CompletionPay&) = delete;

  // Gives back the credits that were set aside for answers that a crash broke off.
  void restore(std::span<const Restored::Answer> broken_off, Moment now);

  // Sets aside the most that the answer can cost. Returns false and moves nothing if the client
  // does not hold that amount.
  [[nodiscard]] bool open(const billing::AnswerId& id, const PublicKey& client, MicroCredits most,
                          const std::string& model, Moment now);
  // Pays `due` for the answer and gives the rest back. Returns the amount paid: 0 if nothing was
  // set aside.
  MicroCredits end(const billing::AnswerId& id, const billing::OpenAnswer& open, MicroCredits due,
                   std::string_view why, Moment now);

 private:
  bool move(ledger::Transaction transaction, Moment now);
  [[nodiscard]] std::vector<ledger::AnswerWork> paid_work(const billing::OpenAnswer& open) const;

  CoreTables& tables_;
};

}  // namespace weft::jobs
