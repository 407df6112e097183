// All leases to workers for checks of other workers' results. Passes each message to the audits,
// polls or traps to which it belongs, and tells the referee of first leases.
//
// Threading: one thread.
#pragma once

#include <optional>
#include <span>

#include "decisions/jobs/audit_leases.h"
#include "decisions/jobs/canary_measures.h"
#include "decisions/jobs/core_tables.h"
#include "decisions/jobs/corrections.h"
#include "decisions/jobs/poll_leases.h"
#include "decisions/jobs/rulings.h"
#include "decisions/jobs/stakes.h"
#include "decisions/jobs/state_audits.h"
#include "decisions/jobs/trap_leases.h"
#include "decisions/jobs/verifier_audits.h"

namespace weft::jobs {

class VerificationLeases final : public CheckLeases {
 public:
  // The checks, and the other work that the coordinator's verifier is asked for.
  struct Parts {
    AuditLeases& audits;
    PollLeases& polls;
    TrapLeases& traps;
    VerifierAudits& verifier;
    StateAudits& states;
    CanaryMeasures& canaries;
    Corrections& corrections;
    const Stakes& stakes;
    Rulings& rulings;
  };
  VerificationLeases(CoreTables& tables, Parts parts) : tables_(tables), parts_(parts) {}
  VerificationLeases(const VerificationLeases&) = delete;

  void leased(const JobId& job, const PublicKey& worker,
              std::span<const protocol::LeasedTask> tasks, Moment now) override;
  void worker_came(Moment now) override { parts_.audits.worker_came(now); }
  void connected(const PublicKey& worker) override { parts_.states.worker_came(worker); }
  void worker_left(const PublicKey& worker, Moment now) override;
  void job_ends(const JobId& job) override;

  // True if the result belonged to an audit, a trap or a poll.
  bool result(const PublicKey& worker, const protocol::TaskResult& result, Moment now);
  void claim(const PublicKey& worker, const protocol::ReceiptItem& item, Moment now);
  bool failed(const PublicKey& worker, const TaskId& task, std::uint32_t attempt, Moment now);
  // Call it when the suspect of an audit has opened its commitment.
  void opened(SessionId session, protocol::Opening opening, Moment now);
  // Call it when the suspect of a check of steps has sent states.
  void states_sent(const SentStates& answer, Moment now) { parts_.states.sent(answer, now); }
  void inspected(const TaskId& task, const PublicKey& auditor, trust::AuditOutcome outcome,
                 Moment now);
  // The verifier's answer. `failed` means that this verifier cannot check the result, or, if it is
  // late, that it may do so later.
  void verified(const TaskId& task, const Hash& root, const Checked& checked, Moment now);
  // The verifier's measurement of a job's canary. An error means that it could not run the canary;
  // it is asked again later.
  void measured(const JobId& job, const Result<scheduler::Measurement>& measurement, Moment now);

  void expire(Moment now);
  [[nodiscard]] std::optional<Instant> deadline() const;

 private:
  CoreTables& tables_;
  const Parts parts_;
};

}  // namespace weft::jobs
