// The money of an answer: what is set aside for it, and who gets it when it has ended.
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

  // What was set aside for answers that a crash broke off goes back.
  void restore(std::span<const Restored::Answer> broken_off, Moment now);

  // Sets the most that the answer can cost aside. False, and nothing is moved, if its client does
  // not hold so much.
  [[nodiscard]] bool open(const billing::AnswerId& id, const PublicKey& client, MicroCredits most,
                          const std::string& model, Moment now);
  // Pays `due` for it and gives the rest back. What was paid: nothing if nothing was set aside.
  MicroCredits end(const billing::AnswerId& id, const billing::OpenAnswer& open, MicroCredits due,
                   std::string_view why, Moment now);

 private:
  bool move(ledger::Transaction transaction, Moment now);
  [[nodiscard]] std::vector<ledger::AnswerWork> paid_work(const billing::OpenAnswer& open) const;

  CoreTables& tables_;
};

}  // namespace weft::jobs
