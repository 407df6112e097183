// Jobs that ask for the same of a worker share a class, and matching is by class: a class knows
// which connected workers fit it, which of them are free, and which of its jobs have tasks to give.
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

// What a job asks for, in a form that compares.
struct ClassKey {
  manifest::Kind kind = manifest::Kind::wgsl;
  std::vector<std::string> features;  // Sorted, each once.
  std::map<std::string, std::uint64_t> limits;
  std::uint64_t memory_bytes = 0;

  [[nodiscard]] static ClassKey of(const Job& job);
  friend auto operator<=>(const ClassKey&, const ClassKey&) = default;
};

[[nodiscard]] bool fits(const Worker& worker, const ClassKey& key);
// The requirements that the worker does not meet, in words; empty if it fits.
[[nodiscard]] std::vector<std::string> lacking(const Worker& worker, const ClassKey& key);

// The order of free workers: newcomers come last; then the one with the least to do, then the one
// that holds least, then the fastest, then the one that came first.
struct FreeKey {
  bool newcomer = false;   // Behind all others.
  std::uint32_t load = 0;  // 0: nothing; otherwise of its predicted milliseconds, in powers of two.
  std::uint32_t held = 0;
  std::int32_t slowness =
      0;  // The rate, in quarters of a power of two: small changes do not reorder.
  std::uint64_t sequence = 0;
  friend auto operator<=>(const FreeKey&, const FreeKey&) = default;
};

struct RequirementClass {
  // Where a job stands that has something to lease: its canary, scouts beside it (for workers that
  // have nothing to do), whatever is open.
  enum Phase : std::uint8_t { canary, scouts, open, phases };

  ClassKey key;
  std::size_t jobs = 0;  // All of the class.
  std::map<Rank, JobState*> needing[phases];
  double trusted_rates = 0;  // Sum over the members that are not newcomers.
  std::size_t members[2] = {
      0, 0};  // Connected workers that fit and are not paused, by protocol::WorkerKind.
  std::size_t trusted[2] = {0, 0};  // Members that are not newcomers.
  PriceFloors floors[2];            // The least that members accept, by protocol::WorkerKind;
  PriceFloors trusted_floors[2];    // of those that are not newcomers.
  std::map<FreeKey, WorkerState*> free[2];  // Those with room, by protocol::WorkerKind.
  std::map<std::uint64_t, WorkerState*>
      sliced;                    // Members that share their memory, by order of arrival.
  JobState* promised = nullptr;  // Which of its jobs holds the reservation.
  Instant empty_since{};         // While it has no members.

  [[nodiscard]] bool has_members() const { return members[0] + members[1] > 0; }
};

}  // namespace weft::scheduler
