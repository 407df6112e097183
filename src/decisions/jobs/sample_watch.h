// Samples: results of workers that are not trusted and that wait to be checked. The length of the
// wait decides how many tasks newcomers get. The operator is told if the wait is too long.
//
// Threading: one thread.
#pragma once

#include "decisions/jobs/audit_leases.h"
#include "decisions/jobs/core_metrics.h"
#include "decisions/jobs/core_tables.h"

namespace weft::jobs {

// Tells the scheduler that an audit was begun, or waits, if the audit checks a newcomer's sample.
// Newcomers get tasks according to the time that checks take.
void note_sample(CoreTables& tables, const Audit& audit, Moment now);

class SampleWatch {
 public:
  SampleWatch(CoreTables& tables, const AuditLeases& audits) : tables_(tables), audits_(audits) {}
  SampleWatch(const SampleWatch&) = delete;

  [[nodiscard]] WaitingSamples samples() const;
  // Warns the operator if samples wait too long, and repeats the warning every ten minutes while
  // they do.
  void warn_of_lag(Moment now);

 private:
  CoreTables& tables_;
  const AuditLeases& audits_;
  Instant looked_{}, warned_{};
};

}  // namespace weft::jobs
