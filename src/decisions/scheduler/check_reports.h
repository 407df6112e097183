// What the scheduler is told of checks: how far verifiers are with newcomers' results
// (sample_queue.h; of jobs with Job::sample_parts), and what the operator's device has measured.
//
// Pure; not safe to share between threads. Tasks and jobs that are not known are nothing.
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

  // A verifier has the result in its queue, and is going to compute such a part of the task again.
  // A result that was leased before a restart counts from here on.
  void begins(const TaskId& task, const PublicKey& worker, double share, Instant now);
  // No verifier that is here can check it.
  void stalls(const TaskId& task, const PublicKey& worker);
  void ends(const TaskId& task, const PublicKey& worker, SampleQueue::Outcome outcome, Instant now);
  // It is accepted or refused.
  void decided(const TaskId& task, const PublicKey& worker);

  // The operator's device has measured the job's canary, as CanaryWanted asked. Does nothing if the
  // canary no longer waits.
  void canary_measured(const JobId& job, const Measurement& measurement, Instant now);

 private:
  SchedulerTables& tables_;
  SampleChecks& samples_;
  Canaries& canaries_;
};

}  // namespace weft::scheduler
