// A job in the queue, and those of its tasks that something has happened to. Plain data and what
// follows from it alone.
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
  // Reference seconds a workgroup: the slowest seen so far, from which bounds are made, and a
  // moving average, which says how much work a worker has ahead and what a client's fair share is
  // charged.
  double pace = 0;
  double pace_usual = 0;
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
  [[nodiscard]] bool has_trusted() const { return trusted_able(0) + trusted_able(1) > 0; }
  [[nodiscard]] PriceTerms price_terms() const;
  [[nodiscard]] std::uint32_t range_first(std::uint32_t index) const;
  [[nodiscard]] std::uint32_t range_count(std::uint32_t index) const;
  [[nodiscard]] TaskId task_id(std::uint32_t index) const {
    return {.job = spec.id, .index = index};
  }
  // Moves `fresh` to the next untouched task; false if there is none.
  [[nodiscard]] bool has_fresh();
  // Where that is; spec.tasks: nowhere.
  [[nodiscard]] std::uint32_t next_fresh() const;
  TaskState& touch(std::uint32_t index);
  // Puts a task that misses a replica at the end of `open`, takes any other out.
  void reopen(std::uint32_t index, TaskState& task);
  void close(TaskState& task);
};

// The paces of JobState::paces.
[[nodiscard]] std::vector<double> values_of(std::span<const std::pair<PublicKey, double>> paces);

}  // namespace weft::scheduler
