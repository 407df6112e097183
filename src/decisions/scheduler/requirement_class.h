// Classes of jobs with equal requirements on a worker. Matching is by class: a class knows the
// connected workers that fit it, the free ones among them, and its jobs that have tasks to give.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "decisions/scheduler/price_floors.h"
#include "decisions/scheduler/score.h"
#include "decisions/scheduler/types.h"

namespace weft::scheduler {

struct JobState;
struct WorkerState;

// A job's requirements, in a form that can be compared.
struct ClassKey {
  manifest::Kind kind = manifest::Kind::wgsl;
  std::vector<std::string> features;  // Names, sorted, without duplicates.
  std::map<std::string, std::uint64_t> limits;
  std::uint64_t memory_bytes = 0;

  [[nodiscard]] static ClassKey of(const Job& job);
  friend auto operator<=>(const ClassKey&, const ClassKey&) = default;
};

[[nodiscard]] bool fits(const Worker& worker, const ClassKey& key);
// The requirements that the worker does not meet, in words; empty if the worker fits.
[[nodiscard]] std::vector<std::string> lacking(const Worker& worker, const ClassKey& key);

// The order of free workers. Newcomers come last. Otherwise, the worker with the least load comes
// first; then, in case of equality, the one with the fewest tasks, the fastest one, and the one
// that came first.
struct FreeKey {
  bool newcomer = false;   // True sorts newcomers after all other workers.
  std::uint32_t load = 0;  // 0: idle; otherwise 1 + the bit width of its predicted milliseconds.
  std::uint32_t held = 0;
  std::int32_t slowness = 0;  // Quarters of powers of two: small changes do not reorder.
  std::uint64_t sequence = 0;
  friend auto operator<=>(const FreeKey&, const FreeKey&) = default;
};

struct RequirementClass {
  // The queues of a class. A job with a task to lease is in one of them: for its canary, for scouts
  // beside the canary (for idle workers), or for any open task.
  enum Phase : std::uint8_t { canary, scouts, open, phases };

  ClassKey key;
  std::size_t jobs = 0;  // Number of jobs of the class.
  std::map<Rank, JobState*> needing[phases];
  double trusted_rates = 0;  // The rates of trusted members, summed.
  std::size_t members[2] = {
      0, 0};  // Connected workers that fit and are not paused, by protocol::WorkerKind.
  std::size_t trusted[2] = {0, 0};  // Members that are not newcomers.
  PriceFloors floors[2];          // The least prices that members accept, by protocol::WorkerKind.
  PriceFloors trusted_floors[2];  // The least prices that members other than newcomers accept.
  std::map<FreeKey, WorkerState*> free[2];  // Members with room, by protocol::WorkerKind.
  std::map<std::uint64_t, WorkerState*>
      sliced;                    // Members that share their memory, by order of arrival.
  JobState* promised = nullptr;  // The job with a promise of room.
  Instant empty_since{};         // Since when the class has no members.

  [[nodiscard]] bool has_members() const { return members[0] + members[1] > 0; }
};

}  // namespace weft::scheduler
