// Audits: a worker, or the coordinator's verifier, computes a result again. This class keeps the
// auditor, the answers that have arrived, and the outcome. The referee decides which results are
// audited (trust::AuditWanted).
//
// An audit by a worker waits for an auditor, for the suspect to open its commitment, for the
// auditor's result and receipt, and for the comparison of both results. Any other audit waits for
// the verifier. If an auditor does not answer in time, another one is drawn; if no auditor is left,
// the audit has failed.
//
// Threading: one thread. Bounds: one audit for each task. An audit that any worker may do is given
// up after auditors_max workers were asked.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "decisions/jobs/audits.h"
#include "decisions/jobs/core_tables.h"
#include "decisions/jobs/rulings.h"
#include "decisions/jobs/state_requests.h"

namespace weft::jobs {

class AuditLeases {
 public:
  AuditLeases(CoreTables& tables, StateRequests& states, Rulings& rulings)
      : tables_(tables), states_(states), rulings_(rulings) {}
  AuditLeases(const AuditLeases&) = delete;

  void start(const trust::AuditWanted& wanted, Moment now);
  // Call it when the suspect has opened its commitment.
  void opened(SessionId session, protocol::Opening opening, Moment now);
  // Messages of a worker. result(), claim() and failed() return true if the message belongs to an
  // audit that the worker carries out. failed() returns false if the worker's result is already
  // being compared.
  bool result(const PublicKey& worker, const protocol::TaskResult& result, Moment now);
  bool claim(const PublicKey& worker, const protocol::ReceiptItem& item, Moment now);
  bool failed(const PublicKey& worker, const TaskId& task, Moment now);
  // Call it when both results of the audit were compared.
  void inspected(const TaskId& task, const PublicKey& auditor, trust::AuditOutcome outcome,
                 Moment now);
  // Call it when a worker has connected that may do audits that wait for an auditor.
  void worker_came(Moment now);
  void worker_left(const PublicKey& worker, Moment now);
  void job_ends(const JobId& job);
  void expire(Moment now);
  [[nodiscard]] std::optional<Instant> deadline() const;

  // Returns null if the task has no audit.
  [[nodiscard]] Audit* find(const TaskId& task);
  [[nodiscard]] auto& all(this auto& self) { return self.open_; }
  // Leases the audit to a worker that is drawn now; if no worker is available, the audit waits for
  // one.
  void lease(Audit& audit, Moment now);
  // Has the verifier compute the audit, as soon as the states that it needs have arrived.
  void verify(Audit& audit, Moment now);
  // Asks another worker. If auditors_max workers were asked already, asks for a second replica
  // instead.
  void again(const TaskId& task, Moment now);
  void end(const TaskId& task, trust::AuditOutcome outcome, Moment now);
  // Drops the audit, because the task was decided without an auditor's answer.
  void forget(const TaskId& task);

 private:
  // True if the coordinator's verifier, which did not finish the audit before, is asked again.
  bool verify_again(const TaskId& task, Moment now);
  // Handles an answer that has arrived: it contradicts an earlier answer, or completes the audit.
  void answered(Audit& audit, Moment now);
  void inspect_if_complete(Audit& audit);
  [[nodiscard]] bool verifier_has_room() const;
  void note_silence(const TaskId& task);
  // Null if the worker is not the auditor of the task.
  [[nodiscard]] Audit* of_auditor(const TaskId& task, const PublicKey& worker);

  CoreTables& tables_;
  StateRequests& states_;
  Rulings& rulings_;
  std::map<TaskId, Audit> open_;
};

}  // namespace weft::jobs
