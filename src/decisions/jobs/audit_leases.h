// Audits: which worker, or the coordinator's verifier, computes a result again, what has come in of
// that, and what came of it. What is audited is the referee's to say (trust::AuditWanted).
//
// An audit waits for an auditor, for the suspect to open its commitment, for the auditor's result
// and receipt, and for the comparison of both; or for the verifier. If one says nothing in time,
// another one is drawn; if none is left, the audit has failed.
//
// Threading: one thread. Bounds: one audit a task; auditors_max workers are asked before one that
// any worker may do is given up.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "decisions/jobs/audits.h"
#include "decisions/jobs/core_tables.h"
#include "decisions/jobs/rulings.h"

namespace weft::jobs {

class AuditLeases {
 public:
  AuditLeases(CoreTables& tables, Rulings& rulings) : tables_(tables), rulings_(rulings) {}
  AuditLeases(const AuditLeases&) = delete;

  void start(const trust::AuditWanted& wanted, Moment now);
  // The suspect opens its commitment.
  void opened(SessionId session, protocol::Opening opening, Moment now);
  // Messages of a worker. These three return true if the message belongs to an audit that the
  // worker carries out; failed() returns false if its result is already being compared.
  bool result(const PublicKey& worker, const protocol::TaskResult& result, Moment now);
  bool claim(const PublicKey& worker, const protocol::ReceiptItem& item, Moment now);
  bool failed(const PublicKey& worker, const TaskId& task, Moment now);
  // Both results were compared.
  void inspected(const TaskId& task, const PublicKey& auditor, trust::AuditOutcome outcome,
                 Moment now);
  // A worker is here that may do those that wait for one.
  void worker_came(Moment now);
  void worker_left(const PublicKey& worker, Moment now);
  void job_ends(const JobId& job);
  void expire(Moment now);
  [[nodiscard]] std::optional<Instant> deadline() const;

  // Null where the task has none.
  [[nodiscard]] Audit* find(const TaskId& task);
  [[nodiscard]] const std::map<TaskId, Audit>& all() const { return open_; }
  // To a worker, drawn now; if there is none, it waits for one.
  void lease(Audit& audit, Moment now);
  // Another worker, or, where enough were asked, a second replica.
  void again(const TaskId& task, Moment now);
  void end(const TaskId& task, trust::AuditOutcome outcome, Moment now);
  // It is decided without a word of a worker's.
  void forget(const TaskId& task) { open_.erase(task); }

 private:
  void verify(Audit& audit);
  // Whether the coordinator's verifier has it again, which did not finish it before.
  bool verify_again(const TaskId& task, Moment now);
  // Something came in: it contradicts what was there, or all of it may be there.
  void answered(Audit& audit, Moment now);
  void inspect_if_complete(Audit& audit);
  [[nodiscard]] bool verifier_has_room() const;
  void note_silence(const TaskId& task);
  // Null where the worker is not its auditor.
  [[nodiscard]] Audit* of_auditor(const TaskId& task, const PublicKey& worker);

  CoreTables& tables_;
  Rulings& rulings_;
  std::map<TaskId, Audit> open_;
};

}  // namespace weft::jobs
