// What the coordinator's verifier says of the results that it was given (audit_leases.h), and what
// follows if it did not finish a check in its time: others that may do it are asked, and it is
// asked again, later each time (trust/late_check.h). No check waits without end because a machine
// was busy for a moment.
//
// Threading: one thread.
#pragma once

#include <cstdint>
#include <string>

#include "decisions/jobs/audit_leases.h"
#include "decisions/jobs/core_tables.h"
#include "decisions/jobs/rulings.h"

namespace weft::jobs {

// Why checks of a job wait, in a sentence; empty if none has waited long.
struct LateView {
  std::uint32_t task = 0;
  std::string sentence;
};

class VerifierAudits {
 public:
  VerifierAudits(CoreTables& tables, AuditLeases& audits, Rulings& rulings)
      : tables_(tables), audits_(audits), rulings_(rulings) {}
  VerifierAudits(const VerifierAudits&) = delete;

  // `failed`: this one cannot; if `late`, it may later.
  void verified(const TaskId& task, const Hash& root, const Checked& checked, Moment now);
  [[nodiscard]] LateView why_late(const JobId& job, Instant now) const;

 private:
  // It did not check it: others do, or it is asked again later.
  void not_checked(Audit& audit, const Checked& checked, Moment now);
  // What can be decided without the verifier, or is worth less than the time that it waits.
  [[nodiscard]] bool is_given_up(const Audit& audit, Moment now) const;

  CoreTables& tables_;
  AuditLeases& audits_;
  Rulings& rulings_;
};

}  // namespace weft::jobs
