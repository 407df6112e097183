#include "decisions/jobs/completion_pay.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "common/base/log.h"

namespace weft::jobs {

void CompletionPay::restore(std::span<const Restored::Answer> broken_off, Moment now) {
  for (const auto& [id, client] : broken_off) {
    move(ledger::end_answer(
             {.answer = id, .client = client, .held = tables_.accounts.ledger().escrow(id)}, {},
             "the coordinator stopped in the middle of an answer"),
         now);
    tables_.accounts.close_escrow(id);
  }
}

bool CompletionPay::open(const billing::AnswerId& id, const PublicKey& client, MicroCredits most,
                         const std::string& model, Moment now) {
  const OwnerId owner = tables_.accounts.owner_of(client);
  return move(
      ledger::open_answer(id, owner, most, model, tables_.accounts.ledger().spendable(owner)), now);
}

MicroCredits CompletionPay::end(const billing::AnswerId& id, const billing::OpenAnswer& open,
                                MicroCredits due, std::string_view why, Moment now) {
  if (open.held <= 0) return 0;
  const std::vector<ledger::AnswerWork> work = paid_work(open);
  const ledger::AnswerPay pay{.answer = id,
                              .client = tables_.accounts.owner_of(open.client),
                              .held = tables_.accounts.ledger().escrow(id),
                              .due = due,
                              .tokens = open.tokens};
  const MicroCredits paid = ledger::paid_for_answer(pay, work);
  move(ledger::end_answer(pay, work, why), now);
  tables_.accounts.close_escrow(id);
  return paid;
}

bool CompletionPay::move(ledger::Transaction transaction, Moment now) {
  const std::string key = transaction.key;
  const auto moved = tables_.accounts.move(std::move(transaction), now);
  if (!moved) {
    log_error("{} cannot be posted: {}", key, moved.error().message);
    return false;
  }
  // The transaction of an answer has no job row.
  if (*moved == ledger::Applied::now)
    tables_.outbox.batch().transactions.back().transaction.job.reset();
  return true;
}

// A tenth of the pay is for the auditors that confirmed the answer: without pay no worker would
// audit, and without audits newcomers' answers are not paid.
std::vector<ledger::AnswerWork> CompletionPay::paid_work(const billing::OpenAnswer& open) const {
  const std::size_t auditors = open.agreeing.size();
  const std::uint64_t scale = auditors == 0 ? 1 : 9 * auditors;
  std::vector<ledger::AnswerWork> work;
  std::uint64_t all = 0;
  for (const inference::WorkShare& share : open.work) {
    const std::uint64_t bounded =
        std::min(share.work, std::numeric_limits<std::uint64_t>::max() >> 16);
    work.push_back({.worker = tables_.accounts.owner_of(share.worker), .work = bounded * scale});
    all += bounded;
  }
  for (const PublicKey& auditor : open.agreeing)
    work.push_back({.worker = tables_.accounts.owner_of(auditor), .work = all});
  return work;
}

}  // namespace weft::jobs
