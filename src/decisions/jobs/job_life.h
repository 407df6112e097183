// The life of a job, from the moment in which it begins to run to its end.
//
// Threading: one thread. Invariant: a running job is known to the scheduler, to trust and to the
// book, and has a row in RunningJobs; it leaves these four at one time. Each job that runs ends
// once.
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

// The answer to a submission or a cancellation.
[[nodiscard]] protocol::api::Submitted submitted_view(const store::Job& row);

class JobLife {
 public:
  // The parts that are told when a job begins and ends.
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

  // Begins to run the job. `progress` is the progress of its tasks, if the job ran before a
  // restart.
  void begin(RunningJob job, Moment now, std::span<const scheduler::TaskProgress> progress);
  // Joins the job's outputs: all its tasks are accepted.
  void join(RunningJob& job, Moment now);
  void joined(const JobId& job, Result<std::vector<store::OutputBlob>> outputs, Moment now);
  // Ends the job. Does nothing if the job does not run.
  void end(const JobId& id, store::JobUpdate::End end, Moment now);
  void fail_with(const JobId& id, std::string reason, Moment now);
  // Ends a job whose right answer depends on the device, on how the job is cut, or on chance. No
  // worker's standing changes, and the client pays for the tasks that ran.
  void end_irreproducible(const JobId& id, std::string_view why, Moment now);

  // Cancels the job. Fails with permission_denied for owners other than the job's. An ended job
  // stays as it is.
  void cancel(const Cancellation& wanted, Moment now, Answer<protocol::api::Submitted> answer);
  // Answers once when the running job ends. Fails with not_found if the job does not run.
  void when_ended(const JobId& job, Answer<EndedJob> answer);

 private:
  [[nodiscard]] trust::JobTerms terms_of(const Book::Manifest& manifest) const;
  // True if a single worker may decide a task, because it is established and has a stake. If not,
  // the replicas of a new job are already fixed.
  [[nodiscard]] bool a_worker_works_alone(Moment now) const;
  // Answers when_ended(). Must be called before the job's escrow is closed.
  void tell_waiters(const RunningJob& job, const store::JobUpdate::End& end);

  CoreTables& tables_;
  const Parts parts_;
  // The callbacks of when_ended() that wait, by running job.
  std::unordered_map<JobId, std::vector<Answer<EndedJob>>> waiters_;
};

}  // namespace weft::jobs
