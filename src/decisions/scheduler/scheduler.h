// Which worker runs which task, and when. The whole queue is in memory and every worker is matched
// against all of it.
//
// Pure and deterministic: the time comes with each event, and the same events give the same
// decisions. An event changes the state and may already decide something (a job fails, a lease is
// lost); decide() expires what is late, matches tasks to workers and hands out everything decided
// since the last call, in order. Call it after each batch of events and when next_deadline() has
// come.
//
//   scheduler.add_worker(worker, now);
//   scheduler.add_job(job, now);
//   for (auto& decision : scheduler.decide(now)) ...      Lease
//   scheduler.result({task, worker, attempt, ...}, now);  the slot is free, the receipt is awaited
//   scheduler.counted(task, worker);                      trust: the replica counts
//   scheduler.settled(task);                              trust: the task is accepted; other leases
//                                                         on it are cancelled
//
// Rules. Jobs by score and age (score.h: stake, priority, deadline, size), then by the order in
// which they came. The replicas of a task go to different workers. Until a job's canary (its first
// open task, leased alone) has passed, nothing else of it is leased; a shader's canary goes to a
// native worker where one is connected that could run it, otherwise to one browser in dispatches of
// one workgroup. Urgent jobs (Settings::urgent_from) do not wait for it: a few of their tasks run
// beside the canary as scouts, on workers that have nothing to do, a shader's on native ones only;
// whichever is done first passes for the canary. How long a canary takes is known with its first
// checkpoint; what was put behind one on its worker goes back into the queue after
// Settings::hold_max, and nothing more is put there until it is known. Every worker gets work
// before one gets two tasks, faster workers first. Clients that had more than their share come
// later (fair_share.h). A task passes over workers that are too slow for its time bound or will
// likely leave before its end (presence.h), as long as a better one may get free. Small tasks come
// in batches: a worker that was filled up is filled again when half of it is done. A task that is
// late in the tail of its job gets a copy elsewhere (speculation.h); one that needs more memory
// than a shared worker has free is promised room (reservation.h). A long task makes way for a much
// more urgent one, at a checkpoint (preemption.h). Where each worker goes on from its own state
// only (Job::states_shared), one that made way waits for its worker as long as what it had done
// took; then another begins it again. Leases are not durable.
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

  // --- Workers. A second add_worker() for a key that is connected is already_exists: remove the
  // first.
  [[nodiscard]] Result<> add_worker(const Worker& worker, Instant now);
  // Its leases are lost and their tasks wait again at once. Unknown workers are nothing.
  void remove_worker(const PublicKey& worker, Departure departure, Instant now);
  // 0 pauses: what it holds is finished.
  void set_slots(const PublicKey& worker, std::uint32_t slots);
  // How far it is trusted from now on.
  void set_standing(const PublicKey& worker, Standing standing);
  // It holds at most so many tasks at a time, however many slots it has. As a newcomer, such a part
  // of each of its results is computed again.
  void set_leases_max(const PublicKey& worker, std::uint32_t leases, double sample_share = 1);
  // Anything that came from the worker, beats above all.
  void heard(const PublicKey& worker, Instant now);
  // A worker that came back shows what it holds. Where the replica is still wanted the lease is its
  // again, with the same attempt: those are given back; the rest comes as one Cancel.
  std::vector<protocol::HeldTask> resume(const PublicKey& worker,
                                         std::span<const protocol::HeldTask> held, Instant now);

  // --- Jobs. already_exists for a known id; invalid_argument for no tasks.
  [[nodiscard]] Result<> add_job(const Job& job, Instant now,
                                 std::span<const TaskProgress> progress = {});
  // The job ended (finished, failed in trust, cancelled by its client): its leases are cancelled
  // with `reason`.
  void remove_job(const JobId& job, std::string_view reason);

  // The client's weight is this from now on: its jobs stand where they would have.
  void set_share(const PublicKey& client, double weight);

  // --- Tasks.
  // not_found if the worker does not hold this attempt of the task (or has reported it): refuse
  // the result. The first result of the canary gives the estimate.
  [[nodiscard]] Result<> result(const TaskResult& result, Instant now);
  // The result is looked at before it can count: the time for its receipt begins then. Nothing
  // where the lease is gone.
  void awaits_receipt_from(const TaskId& task, const PublicKey& worker, Instant then);
  // The worker's replica counts. Nothing where the lease is gone.
  void counted(const TaskId& task, const PublicKey& worker);
  // The lease ended without a result: the worker's own TaskFailed, or bytes that do not have their
  // root (data_loss: the worker is at fault, which never ends a job). not_found as for result(),
  // except that a reported task may fail too.
  [[nodiscard]] Result<> failed(const TaskId& task, const PublicKey& worker, std::uint32_t attempt,
                                const Error& error, Instant now);
  // not_found as for result(). What it has is what preemption goes by; where its place is wanted,
  // or it stopped, the lease ends.
  [[nodiscard]] Result<> checkpointed(const TaskCheckpoint& checkpoint, Instant now);
  // The task is accepted. Its other leases are cancelled. `by`: whose results were right, which
  // shows how fast they are.
  void settled(const TaskId& task, std::span<const PublicKey> by = {});
  // The worker's result of it was found wrong: it gets no more of the job.
  void bar(const TaskId& task, const PublicKey& worker);
  // The task wants so many replicas in all.
  void want_replicas(const TaskId& task, std::uint32_t replicas);

  // --- Decisions.
  [[nodiscard]] std::vector<Decision> decide(Instant now);
  // When decide() has something to expire, at the earliest.
  [[nodiscard]] std::optional<Instant> next_deadline() const;

  // --- What it hands out: as long as the scheduler is there.
  // Reports of checks: how far verifiers are, and what the operator's device has measured.
  [[nodiscard]] CheckReports& checks();
  // What is known of workers' comings and goings, for the store, and the wall clock that their
  // hours follow. Arrivals and departures are noted in it by the events above, and by no caller.
  [[nodiscard]] WorkerHistories& histories();
  // What others ask of the queue.
  [[nodiscard]] const SchedulerViews& views() const;

 private:
  std::unique_ptr<SchedulerParts> parts_;
};

}  // namespace weft::scheduler
