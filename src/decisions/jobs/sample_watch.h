// Samples: results of workers that are not trusted, which wait to be checked. How long that takes
// decides how many tasks newcomers get, and where it takes too long the operator is told.
//
// Threading: one thread.
#pragma once

#include "decisions/jobs/audit_leases.h"
#include "decisions/jobs/core_metrics.h"
#include "decisions/jobs/core_tables.h"

namespace weft::jobs {

// Tells the scheduler that the audit was begun, or waits, if it is a newcomer's sample: newcomers'
// tasks are given out by how long checks take.
void note_sample(CoreTables& tables, const Audit& audit, Moment now);

class SampleWatch {
 public:
  SampleWatch(CoreTables& tables, const AuditLeases& audits) : tables_(tables), audits_(audits) {}
  SampleWatch(const SampleWatch&) = delete;

  [[nodiscard]] WaitingSamples samples() const;
  // Tells the operator where samples wait too long, again every ten minutes for as long as it is
  // so.
  void warn_of_lag(Moment now);

 private:
  CoreTables& tables_;
  const AuditLeases& audits_;
  Instant looked_{}, warned_{};
};

}  // namespace weft::jobs
