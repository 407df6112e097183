// Messages of workers about their tasks: results, receipts, failures. Each message goes to the
// check to which it belongs, or to the scheduler and to trust.
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
  // The parts that handle the messages of workers.
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
  // Refuses a result that failed a check: its bytes are missing, its root differs, or a product is
  // wrong. It counts as a failure of the worker.
  void refuse(SessionId session, const protocol::HeldTask& task, const Error& why, Moment now);

 private:
  // Convicts a worker that has signed two results of one attempt of the task. As on the chain, it
  // loses all of its owner's stake. No item of its receipt counts.
  void end_contradicting(const PublicKey& worker, const TaskId& task, Moment now);

  CoreTables& tables_;
  const Parts parts_;
};

}  // namespace weft::jobs
