#include "decisions/jobs/refunds.h"

#include <algorithm>
#include <vector>

#include "common/base/log.h"

namespace weft::jobs {

bool is_convicted(const CoreTables& tables, const PublicKey& worker) {
  return tables.trust.book().suspended(worker, tables.latest.unix);
}

void Refunds::refund(const store::Recheck& row, Moment now) {
  MicroCredits due = 0;
  MicroCredits fees = 0;
  std::vector<OpenCorrection*> of_worker;
  for (auto& [task, open] : paid_.corrections.change_all()) {
    if (open.over || open.owe.erase(row.worker) == 0) continue;
    due += open.row.due - open.row.refunded;
    of_worker.push_back(&open);
    // The verification account's part is given once, with the first conviction, also if that was
    // before a restart.
    const bool was_given = open.fee_given || (open.row.worker != row.worker &&
                                              is_convicted(tables_, open.row.worker) &&
                                              !paid_.rechecks.contains(open.row.worker));
    open.fee_given = true;
    if (was_given) continue;
    fees += open.row.due / 1000 * tables_.settings.verification_permille +
            open.row.due % 1000 * tables_.settings.verification_permille / 1000;
  }
  const OwnerId owner = tables_.accounts.owner_of(row.worker);
  const MicroCredits kept = tables_.accounts.ledger().platform().total() +
                            tables_.accounts.ledger().verification().total();
  const MicroCredits taken = std::min({row.taken, kept, due});
  MicroCredits stake =
      tables_.settings.refunds_from_stake
          ? std::min(tables_.accounts.ledger().balance(ledger::Account::stake(owner)), due - taken)
          : 0;
  const MicroCredits fee = std::min({fees, kept - taken, due - taken - stake});
  const MicroCredits all = taken + stake + fee;
  for (OpenCorrection* open : of_worker) {
    const MicroCredits part = refund_of(open->row.due - open->row.refunded, due, all);
    if (part <= 0) continue;
    const MicroCredits of_stake = std::min(part, stake);
    const MicroCredits of_accounts = part - of_stake;
    const MicroCredits from_platform =
        std::min(of_accounts, tables_.accounts.ledger().platform().total());
    auto transaction = ledger::refund_wrong(
        {.task = open->row.task,
         .time = open->row.time,
         .client = tables_.accounts.owner_of(open->row.client),
         .platform = ledger::granted_first(tables_.accounts.ledger().platform(), from_platform),
         .verification = ledger::granted_first(tables_.accounts.ledger().verification(),
                                               of_accounts - from_platform),
         .worker = owner,
         .stake = of_stake});
    transaction.key += ":" + row.worker.text();
    if (const auto moved = tables_.accounts.move(std::move(transaction), now);
        !moved || *moved != ledger::Applied::now) {
      log_error("The client of {} cannot be refunded: {}", open->row.task.text(),
                moved ? "this refund was made before." : moved.error().message);
      continue;
    }
    open->row.refunded += part;
    tables_.outbox.batch().corrections.push_back(open->row);
    stake -= of_stake;
  }
}

}  // namespace weft::jobs
