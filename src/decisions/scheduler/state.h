// The scheduler's inside: jobs, their tasks, workers and what they hold. Methods are in leases.cpp
// (what a worker holds and how that ends), matching.cpp (who gets what) and scheduler.cpp (events).
//
// Invariant between calls of decide(): no worker that has room could take a task of any job, except
// for those that are marked as changed (changed_jobs, changed_workers).
#pragma once

#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "decisions/scheduler/fair_share.h"
#include "decisions/scheduler/prefixes.h"
#include "decisions/scheduler/presence.h"
#include "decisions/scheduler/requirement_class.h"
#include "decisions/scheduler/reservation.h"
#include "decisions/scheduler/scheduler.h"
#include "decisions/scheduler/worker_histories.h"

namespace weft::scheduler {

enum class ReplicaState : std::uint8_t { leased, reported, counted };

struct ReplicaOf {
  PublicKey worker;
  std::uint32_t attempt = 0;
  ReplicaState state = ReplicaState::leased;
  std::optional<Measurement> measured = {};  // From its result, until that is accepted.
  bool newcomer = false;                     // Its worker was one when it was leased.
};

struct FailureOn {
  PublicKey worker;
  Instant retry_at;  // Not before that on the same worker.
};

// A task that something has happened to and that is not settled. The others are known by their
// index alone.
struct TaskState {
  std::uint32_t wanted = 0;  // Replicas in all.
  std::uint32_t copies = 0;  // And on top, because one is late.
  std::uint32_t next_attempt = 1;
  std::uint64_t open_sequence = 0;  // Its place in JobState::open; 0: not there.
  std::vector<ReplicaOf> replicas;
  std::vector<FailureOn> failures;  // The latest of each worker.
  std::vector<PublicKey> failed;    // Different workers that count towards failed_workers_max.
  std::uint32_t failed_attempts = 0;
  std::vector<PublicKey> timeouts;
  std::vector<PublicKey> browsers_lost;
  std::uint32_t newcomer_attempts = 0;  // Failed ones, of newcomers.
  bool for_trusted = false;             // A newcomer has lost it.

  [[nodiscard]] bool missing() const { return replicas.size() < wanted + copies; }
  [[nodiscard]] ReplicaOf* replica_of(const PublicKey& worker);
};

enum class CanaryState : std::uint8_t { waiting, leased, passed };

struct JobState {
  Job spec;
  Rank rank;
  RequirementClass* requirements = nullptr;
  Instant since{};            // When it was submitted.
  MicroCredits per_unit = 0;  // What a unit of it costs.
  CanaryState canary = CanaryState::waiting;
  std::optional<std::uint32_t> canary_index;  // Once it was leased.
  double pace = 0;        // The slowest reference seconds a workgroup seen so far: for bounds.
  double pace_usual = 0;  // The latest ones, averaged: for how much a worker has to do.
  std::uint32_t leases = 0;
  std::size_t copies = 0;                // Copies of its tasks.
  WorkerState* promised = nullptr;       // Where its next task has a reservation.
  std::optional<Instant> patient_until;  // It passes over workers until then.
  Instant unfit_at{};                    // Whether any worker fits it is looked at then.
  double score = 0;                      // Without its age.
  bool urgent = false;                   // See Settings::urgent_from.
  std::vector<bool> settled;
  std::uint32_t settled_count = 0;
  std::map<std::uint32_t, TaskState> tasks;  // By index.
  std::uint32_t fresh =
      0;  // Tasks from here on that are neither settled nor in `tasks` are untouched.
  // Touched tasks that miss a replica, oldest first. A task that becomes available again gets
  // a new sequence, so that a worker that has passed over everything up to a sequence need not look
  // there again (passed).
  std::map<std::uint64_t, std::uint32_t> open;
  std::uint64_t next_sequence = 1;
  std::unordered_map<PublicKey, std::uint64_t> passed;  // Looked up only.
  std::vector<PublicKey> timeouts;                      // Before the canary has passed.
  std::vector<PublicKey> browsers_lost;                 // Before the canary has passed.
  std::vector<PublicKey> refusals;
  std::vector<PublicKey> unable;  // Workers that have not got what it takes.
  std::vector<PublicKey> barred;  // Their results of it were wrong.
  // Leases that newcomers had of it, but for those whose results were accepted.
  std::uint32_t newcomer_tries = 0;
  PrefixCounts prefix_leases;  // Leases that newcomers hold now, by their prefixes.
  // Established workers' measurements that make its price while no better one is known, in
  // reference seconds a workgroup.
  std::vector<std::pair<PublicKey, double>> paces;
  bool canary_wanted = false;  // The operator's device was asked for one.
  RequirementClass::Phase listed_phase =
      RequirementClass::phases;  // Where it stands in the class; phases: nowhere.

  // Members of its class that accept its price, of one kind and in all; those that are trusted.
  [[nodiscard]] std::size_t able(std::size_t side) const;
  [[nodiscard]] std::size_t able() const { return able(0) + able(1); }
  [[nodiscard]] std::size_t trusted_able(std::size_t side) const;
  [[nodiscard]] PriceTerms price_terms() const;
  [[nodiscard]] std::uint32_t range_first(std::uint32_t index) const;
  [[nodiscard]] std::uint32_t range_count(std::uint32_t index) const;
  [[nodiscard]] TaskId task_id(std::uint32_t index) const {
    return {.job = spec.id, .index = index};
  }
  // Moves `fresh` to the next untouched task; false where there is none.
  [[nodiscard]] bool has_fresh();
  // Where that is; spec.tasks: nowhere.
  [[nodiscard]] std::uint32_t next_fresh() const;
  TaskState& touch(std::uint32_t index);
  // Puts a task that misses a replica at the end of `open`, takes any other out.
  void reopen(std::uint32_t index, TaskState& task);
  void close(TaskState& task);
};

struct Holding {
  JobState* job = nullptr;
  std::uint32_t index = 0;
  std::uint32_t attempt = 0;
  double seconds = 0;     // Predicted, at the slowest pace.
  double usual = 0;       // At the usual one.
  Instant since;          // Leased, later reported.
  double charged = 0;     // To its client, in reference seconds.
  Instant look_again;     // Whether it is late, at the earliest.
  bool newcomer = false;  // Its worker was one when it was leased.
};

// Results correct what a worker says of its speed by at most this, either way.
inline constexpr double rate_correction_max = 10;
// And what is assumed of one that has shown nothing.
inline constexpr double rate_shown_max = 1000;

struct WorkerState {
  Worker info;
  std::uint64_t sequence = 0;  // Order of arrival.
  double rate_said =
      1;            // Relative to the reference, as it measured itself: what prices are made with.
  double rate = 1;  // Corrected by what its results show: what its work is predicted with.
  std::vector<Holding> running;   // In the order in which it runs them.
  std::vector<Holding> reported;  // Waiting for their receipts.
  Instant head_since;             // When it began with running.front().
  Instant heard;
  double load_seconds = 0;
  std::size_t full_at =
      0;  // How many tasks it held when it had no room any more; 0: it is being filled.
  JobState* promised = nullptr;  // Which job's task waits for room here,
  Promise promise;               // and what it was promised.
  Presence* presence = nullptr;
  std::uint32_t expiries = 0;  // In a row.
  std::optional<Instant> deadline;
  std::vector<RequirementClass*> classes;  // That it fits.
  std::optional<FreeKey> free_key;         // Under which it stands in their `free`.
  bool gone = false;                       // Being removed: nothing is sent to it.

  bool ranks_last = false;  // Behind all that are trusted.
  std::uint32_t leases_max = std::numeric_limits<std::uint32_t>::max();

  [[nodiscard]] bool newcomer() const { return info.standing == Standing::newcomer; }
  [[nodiscard]] bool established() const { return info.standing == Standing::established; }
  [[nodiscard]] bool native() const { return info.kind == protocol::WorkerKind::native; }
  [[nodiscard]] bool sliced() const { return info.sharing == Sharing::sliced; }
  [[nodiscard]] std::size_t side() const { return static_cast<std::size_t>(info.kind); }
};

enum class Blame : std::uint8_t {
  none,     // It goes elsewhere at once.
  ours,     // It was taken back, or makes way: the worker did nothing wrong.
  busy,     // The worker gave it back: not to the same one for a while.
  forgery,  // The worker's answer was wrong: says nothing about the task, and the worker does not
            // get it again soon.
  failure,  // It failed there.
  timeout,
  refusal,  // The worker says that the job is wrong.
  unable,   // It has not got what the task takes.
  gone,     // The worker vanished while running it.
};

// The paces of JobState::paces.
[[nodiscard]] std::vector<double> values_of(std::span<const std::pair<PublicKey, double>> paces);

struct Scheduler::State {
  explicit State(Settings chosen)
      : settings(chosen), shares(chosen.fair_shares), preemption(chosen.preemption) {}

  const Settings settings;
  std::unordered_map<JobId, std::unique_ptr<JobState>> jobs;            // Looked up only.
  std::unordered_map<PublicKey, std::unique_ptr<WorkerState>> workers;  // Looked up only.
  std::map<std::uint64_t, WorkerState*> workers_in_order;
  PrefixCounts prefixes;  // Connected newcomers'.
  std::map<ClassKey, std::unique_ptr<RequirementClass>> classes;
  std::uint64_t next_job = 1;
  std::uint64_t next_worker = 1;
  Instant latest{};  // The last time that came in.

  std::set<std::pair<Instant, std::uint64_t>> worker_deadlines;  // WorkerState::sequence.
  std::set<std::pair<Instant, JobId>> job_deadlines;
  std::set<std::pair<Instant, JobId>> unfit_looks;  // JobState::unfit_at.
  std::set<std::pair<Instant, TaskId>> retries;   // A failed task may go to the same worker again.
  std::set<std::pair<Instant, TaskId>> starving;  // See NoWorkerLeft.
  std::map<Rank, JobState*> changed_jobs;
  std::map<std::uint64_t, WorkerState*> changed_workers;  // By WorkerState::sequence.
  std::map<Rank, JobState*> jobs_at_hand;                 // What match() looks at; empty outside.
  std::vector<Decision> out;
  std::map<std::pair<std::uint64_t, JobId>, std::size_t>
      lease_in_out;  // Leases of this decide() that take further tasks.

  // Clients, and how much later than they came their jobs stand in the queue.
  struct Client {
    std::map<std::uint64_t, JobState*> jobs;  // By Rank::sequence.
    std::int64_t penalty = 0;                 // As in Rank::place.
  };
  FairShares shares;
  std::map<PublicKey, Client> clients;  // With jobs.
  std::optional<Instant> shares_at;     // When all leads were looked at.
  std::size_t shares_of_workers = 0;    // How many there were then.
  bool shares_stale = false;            // Clients came or went since.

  WorkerHistories histories;

  std::set<std::pair<Instant, JobId>> patience;  // JobState::patient_until.
  std::size_t copies = 0;
  std::uint64_t copies_made = 0;

  Preemption preemption;  // For long tasks.
  std::map<std::pair<TaskId, PublicKey>, JobId>
      making_way;                 // Runs that stop at their next checkpoint, and for which job.
  std::optional<Instant> way_at;  // When to look for a place again, while a job waits for one.
  // Replicas that made way and that only their own worker can continue: until then no other worker
  // begins them again. (In `retries`, too.)
  std::map<TaskId, std::map<PublicKey, Instant>> kept;
  std::uint64_t preemptions = 0;

  // Nothing where it is unknown.
  JobState* find_job(const JobId& id);
  WorkerState* find_worker(const PublicKey& key);
  TaskState* find_task(const TaskId& id);

  // indexes.cpp: classes, lists and deadlines follow the state.
  RequirementClass& class_of(const Job& job);
  void list_job(JobState& job);           // Its place in its class.
  void list_worker(WorkerState& worker);  // Its place among the free, and its deadline.
  // A worker that was full has room again when half of what it held is done: tasks come in batches.
  [[nodiscard]] bool has_room(WorkerState& worker) const;
  void set_slots(WorkerState& worker, std::uint32_t slots);
  void set_rate(WorkerState& worker, double rate);
  // market.cpp: work that has waited, as of at most a second ago.
  void look_at_market(Instant now);
  std::optional<Instant> market_at;
  double waiting_seconds = 0;
  double fleet_rate = 0;
  // Counts it in, or out, of its classes.
  void count_member(WorkerState& worker, int change);
  void set_standing(WorkerState& worker, Standing standing);
  // Whether what it says of its speed and its times counts.
  [[nodiscard]] bool says(const WorkerState& worker) const {
    return worker.info.standing == Standing::invited || !settings.safeguards.rates_are_shown;
  }
  // What is assumed of a worker that has shown nothing: the lower quartile of the others' rates.
  [[nodiscard]] double assumed_rate() const;
  // A trusted worker of a class has gone that was the last to accept some price: others may take
  // what was kept for it.
  void trusted_gone(RequirementClass& of);
  void mark(JobState& job);  // It may have something new to give.
  void mark(WorkerState& worker);
  void erase_job(JobState& job);
  void erase_worker(WorkerState& worker);

  // shares.cpp: fair shares between clients.
  void join_client(JobState& job);
  void leave_client(JobState& job);
  void charge(JobState& job, double reference_seconds, Instant now);
  void refresh_shares(Instant now);
  void rerank(JobState& job, std::int64_t penalty_change);

  // canaries.cpp: what runs beside a canary, and behind one.
  [[nodiscard]] bool sends_scouts(const JobState& job) const;
  [[nodiscard]] bool may_scout(const WorkerState& worker, const JobState& job) const;
  void time_scouts(JobState& job, Instant now);
  [[nodiscard]] bool is_stuck(const WorkerState& worker) const;
  void take_back(WorkerState& worker, Instant now);

  // prospects.cpp: how a task would fare on a worker.
  [[nodiscard]] double predicted_seconds(const WorkerState& worker, const JobState& job,
                                         std::uint32_t index) const;
  // How long a task may take there, the others in their slices included.
  [[nodiscard]] Duration wall_bound(const WorkerState& worker) const;
  // The chance that it is done there; 0 where the worker is too slow for the bound on time.
  [[nodiscard]] double prospect(const WorkerState& worker, const JobState& job, std::uint32_t index,
                                Instant now) const;
  [[nodiscard]] bool suits(const WorkerState& worker, const JobState& job, std::uint32_t index,
                           Instant now) const;

  // promises.cpp: memory of shared workers, and reservations on them.
  [[nodiscard]] static std::uint64_t partition_of(const WorkerState& worker, const JobState& job);
  [[nodiscard]] std::vector<Occupant> occupants(const WorkerState& worker) const;
  // Beside what runs on a sliced one.
  [[nodiscard]] bool has_memory(const WorkerState& worker, const JobState& job) const;
  [[nodiscard]] bool admits(const WorkerState& worker, const JobState& job, std::uint32_t index,
                            Instant now) const;
  void promise_room(JobState& job, Instant now);
  void break_promise(JobState& job);
  // After something went there that comes before the promised task.
  void renew_promise(WorkerState& worker, Instant now);

  // waiting.cpp: why no worker runs the task, which misses a replica. Nothing: it is about to run.
  [[nodiscard]] std::optional<Waiting> why_waits(const JobState& job, std::uint32_t index,
                                                 Instant now) const;

  // yields.cpp: places for urgent tasks.
  [[nodiscard]] bool is_long(double predicted_seconds) const;
  void watch(const WorkerState& worker, const JobState& job, std::uint32_t index, double predicted,
             Instant now);
  void make_way(Instant now);
  [[nodiscard]] Duration starts_in(const JobState& job, Instant now) const;
  [[nodiscard]] static RunId run_of(const JobState& job, std::uint32_t index,
                                    const PublicKey& worker);
  // For the worker whose lease has just ended so, having done so many seconds of it.
  void keep_for(WorkerState& worker, JobState& job, std::uint32_t index, double done_seconds,
                Instant now);
  [[nodiscard]] bool kept_for_others(const TaskId& id, const TaskState& task,
                                     const PublicKey& worker) const;
  // It is gone or has paused.
  void keep_nothing_for(const WorkerState& worker);
  void stop(WorkerState& worker, JobState& job, std::uint32_t index, Instant now);
  void forget_way(const TaskId& task);

  // copies.cpp: copies of late tasks.
  void look_for_late(WorkerState& worker, Instant now);
  void drop_copies(JobState& job, TaskState& task, std::uint32_t count);

  // leases.cpp: what a worker holds, and how that ends.
  void lease(WorkerState& worker, JobState& job, std::uint32_t index, std::uint32_t attempt,
             Instant now);
  // In the order of `since`.
  void await_receipt(WorkerState& worker, const Holding& reported);
  // Takes a lease from its worker; the replica stays with the task.
  void unhold(WorkerState& worker, JobState& job, std::uint32_t index, Instant now);
  // The lease is over without a result. False where that ended the job, which is gone then.
  bool lose(WorkerState& worker, JobState& job, std::uint32_t index, Blame blame, const Error& why,
            Instant now);
  // Everything that the worker holds; only what it was running is blamed.
  void lose_all(WorkerState& worker, Blame head, const Error& why, Instant now);
  void cancel_leases(JobState& job, std::string_view reason, Instant now);
  void disconnect(WorkerState& worker, Blame head, const Error& why, Instant now);
  void end_job(JobState& job, Error reason, Instant now);
  // Ends the jobs for which no worker had what they require for Settings::unfit_max.
  void end_unfit(Instant now);
  // The first result of the canary: false where the price ended the job.
  bool pass_canary(JobState& job, const Measurement& measurement, const WorkerState* by,
                   Instant now);
  // prices.cpp: one established worker's measurement neither prices a job nor ends it.
  [[nodiscard]] Estimate priced(const JobState& job, std::span<const double> own) const;
  void note_pace(JobState& job, const Measurement& measurement, const WorkerState& by);
  // Whether an established worker that has not measured the job could.
  [[nodiscard]] bool another_measures(const JobState& job) const;
  [[nodiscard]] bool leaves_canary(const WorkerState& worker, const JobState& job) const;
  void reprice(JobState& job, const Measurement& measurement, const WorkerState& by);

  // How fast the worker is, and the slowest pace of the job, learn from each result.
  void measured(WorkerState& worker, JobState& job, const Measurement& measurement);

  // blame.cpp: what a loss means for the task and its job. An error ends the job.
  std::optional<Error> blame(JobState& job, TaskState& task, std::uint32_t index,
                             const WorkerState& worker, Blame kind, const Error& why,
                             bool canary) const;
  [[nodiscard]] bool no_other_worker(const JobState& job, const std::vector<PublicKey>& keys) const;
  // How many of them are trusted.
  [[nodiscard]] std::size_t trusted_among(const std::vector<PublicKey>& keys) const;
  // How many different trusted workers it takes to blame the job, and whether these are enough.
  [[nodiscard]] bool blames(const JobState& job, const std::vector<PublicKey>& keys,
                            std::size_t enough, Blame kind) const;

  // matching.cpp
  // A stranger's shader is tried natively first, where a native worker that fits is connected.
  [[nodiscard]] static bool waits_for_native(const JobState& job);
  void expire(Instant now);
  void expire_worker(WorkerState& worker, Instant now);
  void match(Instant now);
  // The task that the worker would get of the job now.
  std::optional<std::uint32_t> task_for(const WorkerState& worker, JobState& job, Instant now);
  // One more newcomer may have a lease of the job again.
  void give_try_back(JobState& job);
  // Whether safeguards keep a newcomer from all of the job.
  [[nodiscard]] bool kept_from(const WorkerState& worker, const JobState& job) const;
  // Asks for the operator's device where no trusted worker could run the canary.
  void want_canary(JobState& job);
  [[nodiscard]] static bool has_trusted(const JobState& job);
  // Whether the worker would get something of the job now.
  bool takes(const WorkerState& worker, JobState& job, Instant now);
  void wait_for_better(JobState& job, Duration patience, Instant now);
  enum class Takers : std::uint8_t { some, none, none_of_class };
  Takers takers(std::vector<WorkerState*>& candidates, JobState& job, Instant now);
  bool give(JobState& job, Instant now);
  void announce(WorkerState& worker, JobState& job, std::uint32_t index, std::uint32_t attempt);
};

}  // namespace weft::scheduler
