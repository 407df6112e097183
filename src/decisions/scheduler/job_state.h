// A job in the queue, with the state of its tasks that are not untouched. Plain data, and functions
// of this data alone.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "decisions/scheduler/measured_work.h"
#include "decisions/scheduler/prefixes.h"
#include "decisions/scheduler/quote.h"
#include "decisions/scheduler/requirement_class.h"
#include "decisions/scheduler/types.h"

namespace weft::scheduler {

struct WorkerState;

enum class ReplicaState : std::uint8_t { leased, reported, counted };

struct ReplicaOf {
  PublicKey worker;
  std::uint32_t attempt = 0;
  ReplicaState state = ReplicaState::leased;
  // The measurement of the replica's result, kept until the result is accepted.
  std::optional<Measurement> measured = {};
  bool newcomer = false;  // True if the worker was a newcomer at the lease.
};

struct FailureOn {
  PublicKey worker;
  Instant retry_at;  // The worker does not get the task again before this time.
};

// The state of a touched task: it was leased or changed in some other way, and is not settled. An
// untouched task has no TaskState and is known by its index alone.
struct TaskState {
  std::uint32_t wanted = 0;  // Number of wanted replicas, without copies.
  std::uint32_t copies = 0;  // Additional copies because a replica is late.
  std::uint32_t next_attempt = 1;
  std::uint64_t open_sequence = 0;  // The key of the task in JobState::open; 0 if it has none.
  std::vector<ReplicaOf> replicas;
  std::vector<FailureOn> failures;  // The latest failure on each worker.
  std::vector<PublicKey> failed;    // Different workers that count for failed_workers_max.
  std::uint32_t failed_attempts = 0;
  std::vector<PublicKey> timeouts;
  std::vector<PublicKey> browsers_lost;
  std::uint32_t newcomer_attempts = 0;  // Failed attempts of newcomers.
  bool for_trusted = false;             // True if a newcomer has lost the task.

  [[nodiscard]] bool missing() const { return replicas.size() < wanted + copies; }
  [[nodiscard]] ReplicaOf* replica_of(const PublicKey& worker);
};

enum class CanaryState : std::uint8_t { waiting, leased, passed };

struct JobState {
  Job spec;
  Rank rank;
  RequirementClass* requirements = nullptr;
  Instant since{};            // When the job was submitted.
  MicroCredits per_unit = 0;  // The price of a compute unit for this job.
  CanaryState canary = CanaryState::waiting;
  std::optional<std::uint32_t> canary_index;  // Set once the canary was leased.
  // The job's paces, in reference seconds a workgroup. `pace` is the slowest one seen so far, and
  // gives time bounds. `pace_usual` is a moving average, and gives the load of workers and the
  // charges of clients.
  double pace = 0;
  double pace_usual = 0;
  std::uint32_t leases = 0;
  std::size_t copies = 0;           // Number of copies of the job's tasks.
  WorkerState* promised = nullptr;  // The worker that has promised room to the job's next task.
  std::optional<Instant> patient_until;  // Until then unsuitable workers are passed over.
  Instant unfit_at{};                    // When to check whether any worker fits the job.
  double score = 0;                      // The score (score.h) without ageing.
  bool urgent = false;                   // True if its score is at least Settings::urgent_from.
  std::vector<bool> settled;
  std::uint32_t settled_count = 0;
  std::map<std::uint32_t, TaskState> tasks;  // Touched tasks by index.
  std::uint32_t fresh =
      // The tasks from this index on are untouched, except for settled ones and those in `tasks`.
      0;
  // Touched tasks that miss a replica, oldest first, by a sequence number. A task that becomes
  // available again gets a new number. So a worker that has passed over all tasks up to a number
  // (`passed`) need not look at them again.
  std::map<std::uint64_t, std::uint32_t> open;
  std::uint64_t next_sequence = 1;
  std::unordered_map<PublicKey, std::uint64_t> passed;  // By worker; never iterated.
  std::vector<PublicKey> timeouts;                      // Workers on which canaries timed out.
  std::vector<PublicKey> browsers_lost;  // Browsers that were lost while they ran a canary.
  std::vector<PublicKey> refusals;
  std::vector<PublicKey> unable;  // Workers that lack something that the job needs.
  std::vector<PublicKey> barred;  // Workers whose results of the job were wrong.
  // The number of the job's leases that newcomers had, without those whose results were accepted.
  std::uint32_t newcomer_tries = 0;
  PrefixCounts prefix_leases;  // Leases of the job that newcomers hold now, by address prefix.
  // Measurements by established workers, in reference seconds a workgroup. The job's price follows
  // from them unless a worker or device that prices a job alone has measured it.
  std::vector<std::pair<PublicKey, double>> paces;
  bool canary_wanted = false;  // True if the operator's device was asked for the canary.
  // The queue of the job's class that lists the job; `phases` if none lists it.
  RequirementClass::Phase listed_phase = RequirementClass::phases;

  // The number of members of the job's class that accept the job's price: of one worker kind
  // (`side`), or in all. trusted_able() counts only trusted members.
  [[nodiscard]] std::size_t able(std::size_t side) const;
  [[nodiscard]] std::size_t able() const { return able(0) + able(1); }
  [[nodiscard]] std::size_t trusted_able(std::size_t side) const;
  [[nodiscard]] bool has_trusted() const { return trusted_able(0) + trusted_able(1) > 0; }
  [[nodiscard]] PriceTerms price_terms() const;
  [[nodiscard]] std::uint32_t range_first(std::uint32_t index) const;
  [[nodiscard]] std::uint32_t range_count(std::uint32_t index) const;
  [[nodiscard]] TaskId task_id(std::uint32_t index) const {
    return {.job = spec.id, .index = index};
  }
  // Moves `fresh` to the next untouched task. Returns false if there is none.
  [[nodiscard]] bool has_fresh();
  // The index of the next untouched task; spec.tasks if there is none.
  [[nodiscard]] std::uint32_t next_fresh() const;
  TaskState& touch(std::uint32_t index);
  // Puts the task at the end of `open` if it lacks a replica; otherwise removes it from `open`.
  void reopen(std::uint32_t index, TaskState& task);
  void close(TaskState& task);
};

// Returns the paces without their workers.
[[nodiscard]] std::vector<double> values_of(std::span<const std::pair<PublicKey, double>> paces);

}  // namespace weft::scheduler
