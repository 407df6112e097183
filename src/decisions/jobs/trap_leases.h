// Traps: tasks whose right answer is known, leased to a worker that cannot tell them from other
// tasks. The referee decides which tasks are traps and judges the answer.
//
// Threading: one thread. Bounds: one trap for each worker and task, until its deadline.
#pragma once

#include <map>
#include <optional>
#include <utility>

#include "decisions/jobs/audits.h"
#include "decisions/jobs/checker_pay.h"
#include "decisions/jobs/core_tables.h"
#include "decisions/jobs/rulings.h"

namespace weft::jobs {

class TrapLeases {
 public:
  TrapLeases(CoreTables& tables, CheckerPay& pay, Rulings& rulings)
      : tables_(tables), pay_(pay), rulings_(rulings) {}
  TrapLeases(const TrapLeases&) = delete;

  // Leases a trap. Does nothing if the job does not run or has no single right answer.
  void lease(const PublicKey& worker, const trust::Trap& trap, Moment now);
  // The functions result() and claim() return true if the message belongs to a trap of the worker.
  bool result(const PublicKey& worker, const protocol::TaskResult& result, Moment now);
  bool claim(const PublicKey& worker, const protocol::ReceiptItem& item, Moment now);
  bool failed(const PublicKey& worker, const TaskId& task);

  void worker_left(const PublicKey& worker);
  void job_ends(const JobId& job);
  void expire(Moment now);
  [[nodiscard]] std::optional<Instant> deadline() const;

 private:
  void spring_if_complete(const PublicKey& worker, const TaskId& task, Moment now);

  CoreTables& tables_;
  CheckerPay& pay_;
  Rulings& rulings_;
  std::map<std::pair<PublicKey, TaskId>, TrapLease> open_;
};

}  // namespace weft::jobs
