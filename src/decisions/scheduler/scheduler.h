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
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "decisions/scheduler/events.h"
#include "decisions/scheduler/presence.h"
#include "decisions/scheduler/quote.h"
#include "decisions/scheduler/sample_queue.h"
#include "decisions/scheduler/types.h"
#include "decisions/scheduler/views.h"
#include "decisions/scheduler/waiting.h"

namespace weft::scheduler {

class Scheduler {
 public:
  explicit Scheduler(Settings settings = {});
  Scheduler(const Scheduler&) = delete;
  ~Scheduler();

  // What the wall clock says at this instant: hours of the day follow it. Until then they begin
  // with Instant's epoch.
  void set_clock(Instant now, UnixMillis unix);

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
  // The operator's device has run workgroups of the job (CanaryWanted).
  void canary_measured(const JobId& job, const Measurement& measurement, Instant now);
  // The task wants so many replicas in all.
  void want_replicas(const TaskId& task, std::uint32_t replicas);

  // --- Checks of newcomers' results (sample_queue.h), of jobs with Job::sample_parts.
  // A verifier has the result in its queue, and is going to compute such a part of the task again.
  // A result that was leased before a restart counts from here on.
  void sample_begins(const TaskId& task, const PublicKey& worker, double share, Instant now);
  // No verifier that is here can check it.
  void sample_stalls(const TaskId& task, const PublicKey& worker);
  void sample_ends(const TaskId& task, const PublicKey& worker, SampleQueue::Outcome outcome,
                   Instant now);
  // It is accepted or refused.
  void sample_decided(const TaskId& task, const PublicKey& worker);
  // Seconds until the sample of one more newcomer would be decided.
  [[nodiscard]] double sample_wait(Instant now) const;
  // Newcomers get no tasks now, since that is too long.
  [[nodiscard]] bool samples_are_late(Instant now) const;

  [[nodiscard]] std::vector<Decision> decide(Instant now);
  // When decide() has something to expire, at the earliest.
  [[nodiscard]] std::optional<Instant> next_deadline() const;

  // What a job like this would meet: feed it to quote(). O(jobs) once a second, and O(workers)
  // where no running job requires the same.
  [[nodiscard]] Market market(const Job& job, Instant now);
  // The share of connected trusted workers that hold a task; no value if none is connected.
  // O(workers).
  [[nodiscard]] std::optional<double> busy() const;

  // --- For leases that others grant besides (audits).
  // Connected workers that could run the job and take tasks, in the order of arrival. O(workers).
  [[nodiscard]] std::vector<PublicKey> able(const JobId& job) const;
  // How many of them there are; O(1).
  [[nodiscard]] std::size_t able_count(const JobId& job) const;
  [[nodiscard]] LeaseTerms terms(const JobId& job, const PublicKey& worker) const;

  // --- For pages and tests.
  [[nodiscard]] std::optional<JobProgress> progress(const JobId& job) const;
  // Why no worker runs the job's next task. Nothing for an unknown job, or if none waits.
  // O(workers).
  [[nodiscard]] std::optional<Waiting> waiting(const JobId& job, Instant now) const;
  [[nodiscard]] std::optional<WorkerLoad> load(const PublicKey& worker) const;
  [[nodiscard]] std::vector<ReservationView> reservations() const;
  // Those with jobs, and what one has had.
  [[nodiscard]] std::vector<PublicKey> clients() const;
  [[nodiscard]] ClientShare share(const PublicKey& client, Instant now) const;
  // The chance that a known worker stays for so long, and nothing for an unknown one.
  [[nodiscard]] std::optional<double> stays(const PublicKey& worker, double seconds,
                                            Instant now) const;
  // Copies of late tasks under way, and how many there were.
  [[nodiscard]] std::size_t copies() const;
  [[nodiscard]] std::uint64_t copies_made() const;
  // Tasks that were stopped for more urgent ones.
  [[nodiscard]] std::uint64_t preemptions() const;

  // --- For the store: what is known of workers' comings and goings.
  // Workers whose history has changed since the last call; at the least those that left.
  [[nodiscard]] std::vector<PublicKey> take_moved();
  // A known worker's history, until now if it is here. Nothing for an unknown one.
  [[nodiscard]] const Presence* presence(const PublicKey& worker) const;
  // Before the worker comes.
  void restore_presence(const PublicKey& worker,
                        const std::array<Presence::Hour, Presence::hours>& seen);
  // Forgets a worker that is not here; one that is here stays known.
  void forget_presence(const PublicKey& worker);
  // Forgotten, on purpose or since too many others came later.
  [[nodiscard]] std::vector<PublicKey> take_forgotten();

  [[nodiscard]] std::size_t workers() const;
  [[nodiscard]] std::size_t jobs() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace weft::scheduler
