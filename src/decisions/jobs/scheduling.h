// Carries out what the scheduler decides: leases go out, lost ones are taken back, silent workers
// are disconnected.
//
// Threading: one thread.
#pragma once

#include "decisions/jobs/canary_measures.h"
#include "decisions/jobs/checkpoints.h"
#include "decisions/jobs/client_weights.h"
#include "decisions/jobs/core_tables.h"
#include "decisions/jobs/job_life.h"
#include "decisions/jobs/job_prices.h"
#include "decisions/jobs/job_watch.h"
#include "decisions/jobs/rulings.h"
#include "decisions/jobs/step_root_choice.h"
#include "decisions/jobs/task_payments.h"
#include "decisions/jobs/worker_sessions.h"

namespace weft::jobs {

class Scheduling {
 public:
  // The parts that carry out the scheduler's decisions.
  struct Parts {
    JobLife& life;
    JobPrices& prices;
    TaskPayments& payments;
    Checkpoints& checkpoints;
    const ClientWeights& weights;
    JobWatch& watch;
    WorkerSessions& sessions;
    CheckLeases& checks;
    CanaryMeasures& canaries;
    const StepRootChoice& roots;
    Rulings& rulings;
  };
  Scheduling(CoreTables& tables, Parts parts) : tables_(tables), parts_(parts) {}
  Scheduling(const Scheduling&) = delete;

  // Carries out decisions until no more are due: an action (a job that ends, a replica that is
  // given up) may cause further decisions.
  void decide(Moment now);

 private:
  void act(scheduler::Lease& lease, Moment now);
  void act(scheduler::Cancel& cancel, Moment now);
  void act(const scheduler::Yield& yield, Moment now);
  void act(const scheduler::LeaseLost& lost, Moment now);
  void act(const scheduler::WorkerLost& lost, Moment now);
  void act(const scheduler::Estimated& estimated, Moment now);
  void act(const scheduler::Measured& measured, Moment now);
  void act(const scheduler::CanaryWanted& wanted, Moment now);
  void act(const scheduler::NoWorkerLeft& starved, Moment now);
  void act(const scheduler::JobFailed& ended, Moment now);
  // Asks for roots of steps in the tasks of a lease that begin at their first step.
  void ask_for_roots(protocol::Lease& lease, RunningJob& job, const PublicKey& worker,
                     Moment now) const;
  // Adds the client and its weight to a lease, for a worker that runs several tasks at a time and
  // divides its time between clients.
  void add_client(protocol::Lease& lease, const PublicKey& worker) const;

  CoreTables& tables_;
  const Parts parts_;
};

}  // namespace weft::jobs
