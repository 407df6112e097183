// The money of a job from its escrow to its workers. The escrow is opened with the job and paid out
// task by task; the rest goes back at the job's end. Every movement is in the batch of the decision
// that caused it.
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
  // The pay of each agreeing worker, and the auditors of the task.
  struct Paid {
    MicroCredits each = 0;
    std::map<PublicKey, MicroCredits> auditors;
  };

  TaskPayments(CoreTables& tables, Grants& grants, CheckerPay& checkers, PayHolding& holding)
      : tables_(tables), grants_(grants), checkers_(checkers), holding_(holding) {}
  TaskPayments(const TaskPayments&) = delete;

  // Fails with insufficient_funds if the client does not hold the budget.
  [[nodiscard]] Result<> open_escrow(const JobId& job, const PublicKey& client, MicroCredits budget,
                                     Moment now);
  void close_escrow(const RunningJob& job, Moment now);

  // Sets the price of a job once it is known. The job shows the price from then on.
  void set_price(RunningJob& job, const scheduler::Estimate& estimate);
  // Pays the workers and the auditors of an accepted task.
  Paid pay(RunningJob& job, std::uint32_t index, std::span<const PublicKey> agreeing, Moment now);
  // Pays for the results of open tasks for which workers have signed, in a job that ends because
  // its right answer depends on the device, on how the job is cut, or on chance.
  void pay_what_ran(const RunningJob& job, Moment now);

 private:
  // The pay of the task's auditors, by the share of the task that each computed.
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
