// The answers of the coordinator's verifier about results that it was given (audit_leases.h). If it
// did not finish a check in time, other workers that may do the check are asked, and the verifier
// is asked again after growing delays (trust/late_check.h). No check waits without end because a
// machine was busy for a moment.
//
// Threading: one thread.
#pragma once

#include <cstdint>
#include <string>

#include "decisions/jobs/audit_leases.h"
#include "decisions/jobs/core_tables.h"
#include "decisions/jobs/rulings.h"
#include "decisions/jobs/state_audits.h"
#include "decisions/jobs/state_requests.h"

namespace weft::jobs {

// A sentence that says why checks of a job wait; empty if no check has waited long.
struct LateView {
  std::uint32_t task = 0;
  std::string sentence;
};

class VerifierAudits {
 public:
  VerifierAudits(CoreTables& tables, AuditLeases& audits, StateAudits& states,
                 StateRequests& requests, Rulings& rulings)
      : tables_(tables), audits_(audits), states_(states), requests_(requests), rulings_(rulings) {}
  VerifierAudits(const VerifierAudits&) = delete;

  // The verifier's answer. `failed` means that this verifier cannot check the result, or, if it is
  // late, that it may do so later.
  void verified(const TaskId& task, const Hash& root, const Checked& checked, Moment now);
  [[nodiscard]] LateView why_late(const JobId& job, Instant now) const;

 private:
  // The verifier did not check the result: other workers check it, or the verifier is asked again
  // later.
  void not_checked(Audit& audit, const Checked& checked, Moment now);
  // True if the audit stops waiting for the verifier: it has tried often enough, and the task can
  // be decided without it or is worth less than the wait.
  [[nodiscard]] bool is_given_up(const Audit& audit, Moment now) const;

  CoreTables& tables_;
  AuditLeases& audits_;
  StateAudits& states_;
  StateRequests& requests_;
  Rulings& rulings_;
};

}  // namespace weft::jobs
