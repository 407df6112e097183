// What workers hand in: results, receipts, failures. Each goes to the check that it is of, or to
// the scheduler and to trust.
//
// Threading: one thread.
#pragma once

#include "decisions/jobs/checkpoints.h"
#include "decisions/jobs/core_tables.h"
#include "decisions/jobs/double_signing.h"
#include "decisions/jobs/job_watch.h"
#include "decisions/jobs/result_comparisons.h"
#include "decisions/jobs/rulings.h"
#include "decisions/jobs/verification_leases.h"
#include "decisions/jobs/worker_sessions.h"

namespace weft::jobs {

class ResultIntake {
 public:
  // What is asked and told of what comes in.
  struct Parts {
    const Checkpoints& checkpoints;
    VerificationLeases& checks;
    ResultComparisons& comparisons;
    DoubleSigning& signing;
    JobWatch& watch;
    WorkerSessions& sessions;
    Rulings& rulings;
  };
  ResultIntake(CoreTables& tables, Parts parts) : tables_(tables), parts_(parts) {}
  ResultIntake(const ResultIntake&) = delete;

  void deliver(const Delivery& delivery, Moment now);
  void receipt(CoveringReceipt receipt, Moment now);
  void failed(SessionId session, const protocol::TaskFailed& failure, Moment now);
  // A result that did not stand the checks: no such bytes, another root, a wrong product. Counts as
  // the worker's failure.
  void refuse(SessionId session, const protocol::HeldTask& task, const Error& why, Moment now);

 private:
  // It has signed two results of one attempt of the task. As on a chain, all that its owner has
  // staked is lost. None of what the receipt signs counts.
  void end_contradicting(const PublicKey& worker, const TaskId& task, Moment now);

  CoreTables& tables_;
  const Parts parts_;
};

}  // namespace weft::jobs
