// Reports of checks to the scheduler: the progress of verifiers with newcomers' results
// (sample_queue.h; for jobs with Job::sample_parts), and the measurements of the operator's device.
//
// Pure; not safe to share between threads. Reports on unknown tasks and jobs do nothing.
#pragma once

#include "common/base/clock.h"
#include "common/base/ids.h"
#include "decisions/scheduler/pricing.h"
#include "decisions/scheduler/sample_queue.h"

namespace weft::scheduler {

class Canaries;
class SampleChecks;
struct SchedulerTables;

class CheckReports {
 public:
  CheckReports(SchedulerTables& tables, SampleChecks& samples, Canaries& canaries)
      : tables_(tables), samples_(samples), canaries_(canaries) {}

  // Call it when a verifier has put the result into its queue, to compute the share `share` of the
  // task again. A result that was leased before a restart counts from this call on.
  void begins(const TaskId& task, const PublicKey& worker, double share, Instant now);
  // Call it when no connected verifier can check the result.
  void stalls(const TaskId& task, const PublicKey& worker);
  void ends(const TaskId& task, const PublicKey& worker, SampleQueue::Outcome outcome, Instant now);
  // Call it when the result was accepted or refused.
  void decided(const TaskId& task, const PublicKey& worker);

  // Call it when the operator's device has measured the job's canary, which CanaryWanted asked for.
  // Does nothing if the canary no longer waits.
  void canary_measured(const JobId& job, const Measurement& measurement, Instant now);

 private:
  SchedulerTables& tables_;
  SampleChecks& samples_;
  Canaries& canaries_;
};

}  // namespace weft::scheduler
