// Canaries that the coordinator's verifier runs to measure what a job costs. The verifier is asked
// again if it did not finish a canary in time, until a worker has measured the job.
//
// Threading: one thread. Memory: two rows for each running job whose canary was late.
#pragma once

#include <map>
#include <optional>
#include <set>

#include "decisions/jobs/core_tables.h"
#include "decisions/jobs/verifier_audits.h"
#include "decisions/trust/late_check.h"

namespace weft::jobs {

class CanaryMeasures {
 public:
  explicit CanaryMeasures(CoreTables& tables) : tables_(tables) {}
  CanaryMeasures(const CanaryMeasures&) = delete;

  // Asks the verifier to run the job's canary. Does nothing if there is no verifier.
  void order(const JobId& job);
  // Takes the verifier's answer. An error means that the verifier could not run the canary; it is
  // asked again later.
  void measured(const JobId& job, const Result<scheduler::Measurement>& measurement, Moment now);
  void job_ends(const JobId& job) {
    late_.erase(job);
    too_long_.erase(job);
  }

  // The rate of the verifier's device, relative to the reference, in its latest measurement; 0
  // before the first.
  [[nodiscard]] double verifier_rate() const { return verifier_rate_; }
  // True if the verifier did not finish the job's canary in the time that a check may take.
  [[nodiscard]] bool was_too_long(const JobId& job) const { return too_long_.contains(job); }

  // Orders again the late canaries that are due.
  void ask_again(Moment now);
  [[nodiscard]] std::optional<Instant> deadline() const;
  [[nodiscard]] LateView why_late(const JobId& job, Instant now) const;

 private:
  CoreTables& tables_;
  std::map<JobId, trust::LateCheck> late_;
  std::set<JobId> too_long_;
  double verifier_rate_ = 0;
};

}  // namespace weft::jobs
