// Polls: established workers with devices of the suspect's vendor compute the part in which a root
// found the suspect wrong. Their results show whether the worker or its device is at fault. The
// referee decides which polls are wanted and what follows from them (trust::PollWanted).
//
// Threading: one thread. Bounds: one poll for each worker and task, until its deadline. Invariant:
// each worker that a poll wanted is reported once, with trust::Referee::polled().
#pragma once

#include <map>
#include <optional>
#include <utility>

#include "decisions/jobs/audits.h"
#include "decisions/jobs/checker_pay.h"
#include "decisions/jobs/core_tables.h"
#include "decisions/jobs/rulings.h"

namespace weft::jobs {

class PollLeases {
 public:
  PollLeases(CoreTables& tables, CheckerPay& pay, Rulings& rulings)
      : tables_(tables), pay_(pay), rulings_(rulings) {}
  PollLeases(const PollLeases&) = delete;

  void start(const trust::PollWanted& wanted, Moment now);
  // The functions result() and claim() return true if the message belongs to a poll of the worker.
  bool result(const PublicKey& worker, const protocol::TaskResult& result, Moment now);
  bool claim(const PublicKey& worker, const protocol::ReceiptItem& item, Moment now);
  bool failed(const PublicKey& worker, const TaskId& task, Moment now);
  bool inspected(const TaskId& task, const PublicKey& worker, trust::AuditOutcome outcome,
                 Moment now);

  void worker_left(const PublicKey& worker, Moment now);
  void job_ends(const JobId& job);
  void expire(Moment now);
  [[nodiscard]] std::optional<Instant> deadline() const;

 private:
  // Compares the worker's result with the accepted one, once its result and its claim have arrived.
  void inspect_if_complete(const PublicKey& worker, const TaskId& task, Moment now);
  void end(const PublicKey& worker, const TaskId& task, trust::AuditOutcome outcome, Moment now);

  CoreTables& tables_;
  CheckerPay& pay_;
  Rulings& rulings_;
  std::map<std::pair<PublicKey, TaskId>, PollLease> open_;
};

}  // namespace weft::jobs
