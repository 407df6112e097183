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
// idle workers, a shader's on native ones only. The first of these that is done serves as the
// canary. The length of a canary is known with its first checkpoint. Tasks that wait after a canary
// on its worker go back into the queue after Settings::hold_max, and no more tasks are put there
// until its length is known.
//
// Late and long tasks: a task passes over workers that are too slow for its time bound or will
// likely leave before its end (presence.h), as long as a better one may get free. A task that is
// late in the tail of its job gets a copy on another worker (speculation.h). A task that needs more
// memory than a shared worker has free is promised room (reservation.h). A long task makes way for
// a much more urgent one, at a checkpoint (preemption.h). If each worker goes on from its own state
// only (Job::states_shared is false), a task that made way waits for its worker as long as the work
// that it had done took; then another worker begins it again. Leases are not durable.
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

  // --- Workers. Fails with already_exists if a worker with this key is connected: remove that
  // worker before.
  [[nodiscard]] Result<> add_worker(const Worker& worker, Instant now);
  // Removes a worker. Its leases are lost, and its tasks wait again at once. Does nothing for an
  // unknown worker.
  void remove_worker(const PublicKey& worker, Departure departure, Instant now);
  // Sets the worker's number of slots. 0 pauses the worker: it finishes the tasks that it holds.
  void set_slots(const PublicKey& worker, std::uint32_t slots);
  // Sets how far the worker is trusted from now on.
  void set_standing(const PublicKey& worker, Standing standing);
  // Limits the number of tasks that the worker holds at a time, however many slots it has.
  // `sample_share` is the part of each of its results that is computed again while it is a
  // newcomer.
  void set_leases_max(const PublicKey& worker, std::uint32_t leases, double sample_share = 1);
  // Call this for everything that comes from the worker, heartbeats above all.
  void heard(const PublicKey& worker, Instant now);
  // A worker that came back names the tasks that it holds. If a replica is still wanted, the worker
  // has its lease again, with the same attempt; these tasks are returned. The other tasks are
  // cancelled with one Cancel.
  std::vector<protocol::HeldTask> resume(const PublicKey& worker,
                                         std::span<const protocol::HeldTask> held, Instant now);

  // --- Jobs. Fails with already_exists for a known id, and with invalid_argument for a job without
  // tasks.
  [[nodiscard]] Result<> add_job(const Job& job, Instant now,
                                 std::span<const TaskProgress> progress = {});
  // Removes a job that ended (finished, failed in trust, or cancelled by its client) and cancels
  // its leases with `reason`.
  void remove_job(const JobId& job, std::string_view reason);

  // Sets the client's weight from now on. Its jobs move in the queue accordingly.
  void set_share(const PublicKey& client, double weight);

  // --- Tasks. The first result of the canary gives the estimate. Fails with not_found if the
  // worker does not hold this attempt of the task, or has reported it: refuse the result then.
  [[nodiscard]] Result<> result(const TaskResult& result, Instant now);
  // The time for the receipt of the result begins at `then`, because the result is examined first.
  // Does nothing if the lease is gone.
  void awaits_receipt_from(const TaskId& task, const PublicKey& worker, Instant then);
  // The worker's replica counts. Does nothing if the task is settled.
  void counted(const TaskId& task, const PublicKey& worker);
  // The lease ended without a result, by the worker's own TaskFailed or because the result's bytes
  // do not match its root (data_loss: the worker is at fault, which never ends a job). Fails with
  // not_found if the worker does not hold this attempt; a reported task may fail, too.
  [[nodiscard]] Result<> failed(const TaskId& task, const PublicKey& worker, std::uint32_t attempt,
                                const Error& error, Instant now);
  // The worker has stored a checkpoint, from which preemption knows the task's progress. The lease
  // ends if a more urgent task wants its place, or if the worker has stopped. Fails with not_found
  // if the worker does not run this attempt.
  [[nodiscard]] Result<> checkpointed(const TaskCheckpoint& checkpoint, Instant now);
  // The task is accepted, and its other leases are cancelled. `by` names the workers whose results
  // were right; their results show how fast they are.
  void settled(const TaskId& task, std::span<const PublicKey> by = {});
  // The worker's result of the task was found wrong: the worker gets no more tasks of the job. A
  // result that is only lost keeps the worker from no other task. If it was a newcomer, the task
  // goes to a trusted worker next.
  void bar(const TaskId& task, const PublicKey& worker, Barred from = Barred::job);
  // Sets the number of replicas that the task needs in all.
  void want_replicas(const TaskId& task, std::uint32_t replicas);

  // --- Decisions.
  [[nodiscard]] std::vector<Decision> decide(Instant now);
  // The earliest time at which decide() has something to expire.
  [[nodiscard]] std::optional<Instant> next_deadline() const;

  // --- Parts. The references stay valid as long as the scheduler exists. Takes reports of checks:
  // the progress of verifiers, and measurements of the operator's device.
  [[nodiscard]] CheckReports& checks();
  // The history of workers' comings and goings, for the store, and the wall clock for its hours.
  // The events above record arrivals and departures in it; callers do not.
  [[nodiscard]] WorkerHistories& histories();
  // Read-only views of the queue.
  [[nodiscard]] const SchedulerViews& views() const;

 private:
  std::unique_ptr<SchedulerParts> parts_;
};

}  // namespace weft::scheduler
