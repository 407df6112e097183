// A job's money from its escrow to its workers: opened with the job, paid out task by task, and
// what is left given back at its end. Every movement goes into the same batch as what caused it.
//
// Threading: one thread. Invariant: a task is paid at most once, and never more than the escrow
// holds.
#pragma once

#include <map>
#include <span>

#include "decisions/jobs/checker_pay.h"
#include "decisions/jobs/core_tables.h"
#include "decisions/jobs/grants.h"
#include "decisions/jobs/rulings.h"
#include "decisions/ledger/ledger.h"

namespace weft::jobs {

class TaskPayments {
 public:
  // What each agreeing worker got, and who audited the task.
  struct Paid {
    MicroCredits each = 0;
    std::map<PublicKey, MicroCredits> auditors;
  };

  TaskPayments(CoreTables& tables, Grants& grants, CheckerPay& checkers, PayHolding& holding)
      : tables_(tables), grants_(grants), checkers_(checkers), holding_(holding) {}
  TaskPayments(const TaskPayments&) = delete;

  // insufficient_funds where the client does not hold the budget.
  [[nodiscard]] Result<> open_escrow(const JobId& job, const PublicKey& client, MicroCredits budget,
                                     Moment now);
  void close_escrow(const RunningJob& job, Moment now);

  // Once it is known; a job shows it from then on.
  void set_price(RunningJob& job, const scheduler::Estimate& estimate);
  // The task is accepted: its workers and its auditors are paid.
  Paid pay(RunningJob& job, std::uint32_t index, std::span<const PublicKey> agreeing, Moment now);
  // The job's right answer depends on the device, on how it is cut, or on chance: results of open
  // tasks that workers have signed for are paid.
  void pay_what_ran(const RunningJob& job, Moment now);

 private:
  // What its auditors are to have, by the share of the task that each computed.
  [[nodiscard]] static std::map<PublicKey, MicroCredits> audit_pay(const RunningJob& job,
                                                                   std::uint32_t index,
                                                                   const ledger::TaskPay& pay);
  // The part of a worker's pay that goes into its owner's stake.
  [[nodiscard]] MicroCredits part_for_stake(const OwnerId& owner, MicroCredits each) const;

  CoreTables& tables_;
  Grants& grants_;
  CheckerPay& checkers_;
  PayHolding& holding_;
};

}  // namespace weft::jobs
