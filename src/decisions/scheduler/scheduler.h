// Decides which worker runs which task, and when. The whole queue is in memory, and all of it is
// matched against every worker.
//
// Pure and deterministic: the time comes with each event, and the same events give the same
// decisions. An event changes the state and may already decide something (a job fails, a lease is
// lost). decide() expires what is late, matches tasks to workers, and returns everything that was
// decided since the last call, in order. Call it after each batch of events and when
// next_deadline() has come.
//
//   scheduler.add_worker(worker, now);
//   scheduler.add_job(job, now);
//   for (auto& decision : scheduler.decide(now)) ...      Lease
//   scheduler.result({task, worker, attempt, ...}, now);  the slot is free, the receipt is awaited
//   scheduler.counted(task, worker);                      trust: the replica counts
//   scheduler.settled(task);                              trust: the task is accepted; other leases
//                                                         on it are cancelled
//
// Order: jobs are served by score and age (score.h: stake, priority, deadline, size), then by the
// order in which they came. Clients that had more than their share come later (fair_share.h). The
// replicas of a task go to different workers. Every worker gets work before one gets two tasks,
// faster workers first. Small tasks come in batches: a worker that was filled up is filled again
// when half of its tasks are done.
//
// Canaries: a job's first open task, leased alone, is its canary. No other task of the job is
// leased until the canary has passed. A shader's canary goes to a native worker if a connected one
// could run it, otherwise to one browser in dispatches of one workgroup. Urgent jobs
// (Settings::urgent_from) do not wait: a few of their tasks run beside the canary as scouts, on
// idle workers, and those of a shader on native workers only. The task that is done first serves as
// the canary. The length of a canary is known with its first checkpoint. Tasks that wait after a
// canary on its worker go back into the queue after Settings::hold_max, and no more tasks are put
// after it until its length is known.
//
// Late and long tasks: a task passes over workers that are too slow for its time bound or will
// likely leave before its end (presence.h), as long as a better worker may become free. A task that
// is late in the tail of its job gets a copy on another worker (speculation.h). A task that needs
// more memory than a shared worker has free is promised room (reservation.h). A long task makes way
// for a much more urgent one, at a checkpoint (preemption.h). If each worker can continue only from
// its own state (Job::states_shared is false), a task that made way waits for its worker as long as
// its stored work took; then another worker begins it again. Leases are not durable.
//
// Cost: an event and an assignment take O(log workers) for each class of requirements in use;
// nothing scans tasks.
//
// This class hands each event to the part that it concerns and decides nothing itself; the parts
// are wired in scheduler_parts.h. Not safe to share between threads.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "decisions/scheduler/check_reports.h"
#include "decisions/scheduler/events.h"
#include "decisions/scheduler/scheduler_views.h"
#include "decisions/scheduler/types.h"
#include "decisions/scheduler/worker_histories.h"

namespace weft::scheduler {

struct SchedulerParts;

class Scheduler {
 public:
  explicit Scheduler(Settings settings = {});
  Scheduler(const Scheduler&) = delete;
  ~Scheduler();

  // --- Workers. Fails with already_exists if a worker with this key is connected: that worker must
  // be removed first.
  [[nodiscard]] Result<> add_worker(const Worker& worker, Instant now);
  // Removes a worker. Its leases are lost, and its tasks wait again at once. Does nothing for an
  // unknown worker.
  void remove_worker(const PublicKey& worker, Departure departure, Instant now);
  // Sets the worker's number of slots. 0 pauses the worker: it finishes the tasks that it holds.
  void set_slots(const PublicKey& worker, std::uint32_t slots);
  // Sets the worker's standing from now on.
  void set_standing(const PublicKey& worker, Standing standing);
  // Limits the number of tasks that the worker holds at a time, however many slots it has.
  // `sample_share` is the part of each of the worker's results that is computed again while the
  // worker is a newcomer.
  void set_leases_max(const PublicKey& worker, std::uint32_t leases, double sample_share = 1);
  // Call this for every message of the worker, heartbeats included.
  void heard(const PublicKey& worker, Instant now);
  // Takes the tasks that a reconnected worker still holds. If a replica is still wanted, the worker
  // gets its lease back with the same attempt; these tasks are returned. The other tasks are
  // cancelled with one Cancel.
  std::vector<protocol::HeldTask> resume(const PublicKey& worker,
                                         std::span<const protocol::HeldTask> held, Instant now);

  // --- Jobs. Fails with already_exists for a known id, and with invalid_argument for a job without
  // tasks.
  [[nodiscard]] Result<> add_job(const Job& job, Instant now,
                                 std::span<const TaskProgress> progress = {});
  // Removes a job that ended (it finished, failed in trust, or was cancelled by its client) and
  // cancels its leases with `reason`.
  void remove_job(const JobId& job, std::string_view reason);

  // Sets the client's weight from now on, which moves its jobs in the queue.
  void set_share(const PublicKey& client, double weight);

  // --- Tasks. Takes a result; the first result of a canary gives the estimate. Fails with
  // not_found if the worker does not hold this attempt of the task, or has already reported it: the
  // caller then refuses the result.
  [[nodiscard]] Result<> result(const TaskResult& result, Instant now);
  // Begins the time limit for the result's receipt at `then`, because the result is examined first.
  // Does nothing if the lease is gone.
  void awaits_receipt_from(const TaskId& task, const PublicKey& worker, Instant then);
  // Counts the worker's replica. Does nothing if the task is settled.
  void counted(const TaskId& task, const PublicKey& worker);
  // Call it when the lease ended without a result: the worker sent TaskFailed, or the result's
  // bytes do not match its root (data_loss: the worker is at fault, which never ends a job). Fails
  // with not_found if the worker does not hold this attempt; a reported task may fail, too.
  [[nodiscard]] Result<> failed(const TaskId& task, const PublicKey& worker, std::uint32_t attempt,
                                const Error& error, Instant now);
  // Call it when the worker has stored a checkpoint, which shows the task's progress. The lease
  // ends if a more urgent task wants its place, or if the worker has stopped. Fails with not_found
  // if the worker does not run this attempt.
  [[nodiscard]] Result<> checkpointed(const TaskCheckpoint& checkpoint, Instant now);
  // Call it when the task is accepted: its other leases are cancelled. `by` names the workers whose
  // results were right; their results show how fast they are.
  void settled(const TaskId& task, std::span<const PublicKey> by = {});
  // Call it when the worker's result of the task was found wrong: the worker gets no more tasks of
  // the job. If the result was only lost, the worker is kept from this task alone. If the worker is
  // a newcomer, the task goes to a trusted worker next.
  void bar(const TaskId& task, const PublicKey& worker, Barred from = Barred::job);
  // Sets the number of replicas that the task needs in all.
  void want_replicas(const TaskId& task, std::uint32_t replicas);

  // --- Decisions.
  [[nodiscard]] std::vector<Decision> decide(Instant now);
  // The earliest time at which decide() has something to expire.
  [[nodiscard]] std::optional<Instant> next_deadline() const;

  // --- Parts. The references stay valid as long as the scheduler exists. checks() takes reports of
  // checks: the progress of verifiers, and measurements of the operator's device.
  [[nodiscard]] CheckReports& checks();
  // The history of workers' arrivals and departures, for the store, and the wall clock for its
  // hours. add_worker() and remove_worker() record in it; callers do not.
  [[nodiscard]] WorkerHistories& histories();
  // Read-only views of the queue.
  [[nodiscard]] const SchedulerViews& views() const;

 private:
  std::unique_ptr<SchedulerParts> parts_;
};

}  // namespace weft::scheduler
