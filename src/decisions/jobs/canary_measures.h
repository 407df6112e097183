// Canaries that the coordinator's verifier runs, to show what a job costs: it is asked, and asked
// again where it did not finish one in its time, until a worker has shown it.
//
// Threading: one thread. Memory: a row for each running job whose canary was late.
#pragma once

#include <map>
#include <optional>

#include "decisions/jobs/core_tables.h"
#include "decisions/jobs/verifier_audits.h"
#include "decisions/trust/late_check.h"

namespace weft::jobs {

class CanaryMeasures {
 public:
  explicit CanaryMeasures(CoreTables& tables) : tables_(tables) {}
  CanaryMeasures(const CanaryMeasures&) = delete;

  // Nothing if there is no verifier.
  void order(const JobId& job);
  // An error: it could not run it, and tries again later.
  void measured(const JobId& job, const Result<scheduler::Measurement>& measurement, Moment now);
  void job_ends(const JobId& job) { late_.erase(job); }

  // Those that are due.
  void ask_again(Moment now);
  [[nodiscard]] std::optional<Instant> deadline() const;
  [[nodiscard]] LateView why_late(const JobId& job, Instant now) const;

 private:
  CoreTables& tables_;
  std::map<JobId, trust::LateCheck> late_;
};

}  // namespace weft::jobs
