#include "decisions/jobs/checker_pay.h"

#include <algorithm>
#include <utility>

#include "common/base/format.h"

namespace weft::jobs {

MicroCredits CheckerPay::pay(const TaskId& task, const PublicKey& worker, MicroCredits amount,
                             std::string_view what, Moment now) {
  const MicroCredits paid = from_platform(task, worker, amount, what, now);
  return paid + from_verification(task, worker, amount - paid, now);
}

MicroCredits CheckerPay::from_platform(const TaskId& task, const PublicKey& worker,
                                       MicroCredits amount, std::string_view what, Moment now) {
  const ledger::Funds platform = tables_.accounts.ledger().platform();
  const MicroCredits paid = std::min(amount, platform.total());
  if (paid <= 0) return 0;
  ledger::Transaction transaction{
      .key = weft::format("{}:{}:{}", what, task.text(), worker.text()),
      .job = {},
      .entries = {},
      .what = weft::format("pays a worker for checking task {}", task.index)};
  const ledger::Funds funds = ledger::granted_first(platform, paid);
  ledger::post_platform(transaction.entries, funds, ledger::Sign::take);
  ledger::post_owner(transaction.entries, tables_.accounts.owner_of(worker), funds,
                     ledger::Sign::add);
  if (tables_.jobs.contains(task.job)) transaction.job = task.job;
  const auto moved = tables_.accounts.move(std::move(transaction), now);
  return moved && *moved == ledger::Applied::now ? paid : 0;
}

MicroCredits CheckerPay::from_verification(const TaskId& task, const PublicKey& worker,
                                           MicroCredits amount, Moment now) {
  const ledger::Funds has = tables_.accounts.ledger().verification();
  const MicroCredits paid = std::min(amount, has.total());
  if (paid <= 0) return 0;
  auto transaction =
      ledger::pay_verifier(task, worker, tables_.accounts.owner_of(worker), paid, has);
  if (tables_.jobs.contains(task.job)) transaction.job = task.job;
  const auto moved = tables_.accounts.move(std::move(transaction), now);
  return moved && *moved == ledger::Applied::now ? paid : 0;
}

}  // namespace weft::jobs
