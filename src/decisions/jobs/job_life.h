// A job from the moment in which it begins to run to its end.
//
// Threading: one thread. Invariant: a job that runs is known to the scheduler, to trust and to the
// book, and has a row of RunningJobs; it leaves all four at once. Each job that runs ends once.
#pragma once

#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "decisions/jobs/checkpoints.h"
#include "decisions/jobs/client_weights.h"
#include "decisions/jobs/core_tables.h"
#include "decisions/jobs/job_prices.h"
#include "decisions/jobs/job_watch.h"
#include "decisions/jobs/result_comparisons.h"
#include "decisions/jobs/rulings.h"
#include "decisions/jobs/stakes.h"
#include "decisions/jobs/task_payments.h"
#include "decisions/jobs/worker_sessions.h"

namespace weft::jobs {

// What a submission or a cancellation is answered.
[[nodiscard]] protocol::api::Submitted submitted_view(const store::Job& row);

class JobLife {
 public:
  // What a job's beginning and end concern.
  struct Parts {
    const JobPrices& prices;
    const ClientWeights& weights;
    const Stakes& stakes;
    const ResultComparisons& comparisons;
    JobWatch& watch;
    TaskPayments& payments;
    Checkpoints& checkpoints;
    WorkerSessions& sessions;
    CheckLeases& checks;
    OpenClaims& claims;
  };
  JobLife(CoreTables& tables, Parts parts) : tables_(tables), parts_(parts) {}
  JobLife(const JobLife&) = delete;

  // `progress`: of its tasks, where it ran before a restart.
  void begin(RunningJob job, Moment now, std::span<const scheduler::TaskProgress> progress);
  // All its tasks are accepted.
  void join(RunningJob& job, Moment now);
  void joined(const JobId& job, Result<std::vector<store::OutputBlob>> outputs, Moment now);
  // Nothing where it does not run.
  void end(const JobId& id, store::JobUpdate::End end, Moment now);
  void fail_with(const JobId& id, std::string reason, Moment now);
  // Its right answer depends on the device, on how it is cut, or on chance: it ends, no worker's
  // standing changes, and the client pays for what ran.
  void end_irreproducible(const JobId& id, std::string_view why, Moment now);

  // permission_denied for other owners than the job's. Ended jobs stay as they are.
  void cancel(const Cancellation& wanted, Moment now, Answer<protocol::api::Submitted> answer);
  // Tells once how a running job has ended; not_found if it does not run.
  void when_ended(const JobId& job, Answer<EndedJob> answer);

 private:
  [[nodiscard]] trust::JobTerms terms_of(const Book::Manifest& manifest) const;
  // Some wallet could work alone: only then are replicas of a new job left to be decided.
  [[nodiscard]] bool a_worker_works_alone(Moment now) const;
  // Before the job's escrow is closed.
  void tell_waiters(const RunningJob& job, const store::JobUpdate::End& end);

  CoreTables& tables_;
  const Parts parts_;
  std::unordered_map<JobId, std::vector<Answer<EndedJob>>> waiters_;  // For running jobs' ends.
};

}  // namespace weft::jobs
