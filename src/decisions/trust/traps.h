// Traps: tasks with known answers that are handed out like any other task. A worker that returns
// another answer is certainly wrong. Traps come from tasks that a root or a jury has decided, and
// from callers that add tasks with answers that they know. A trap looks like one more replica of a
// task; a worker that has had the task is never given the trap.
//
// Pure. Bounds: at most traps_max traps, of which the oldest is dropped; a trap is used up after
// workers_max workers.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_set>
#include <vector>

#include "common/base/ids.h"

namespace weft::trust {

struct Trap {
  TaskId task;
  Hash root;  // The root of the right answer.
  MicroCredits value = 0;
  // The client of the job that the task is from, and the workers that gave the answer. Without a
  // client, the operator knows the answer.
  std::optional<PublicKey> client = {};
  std::vector<PublicKey> by = {};
};

class TrapPool {
 public:
  void add(const Trap& trap, const std::vector<PublicKey>& known_to);
  // Returns a trap that `worker` has not had, and counts it as known to the worker from now on.
  // `random` sets the place in the pool where the search begins.
  [[nodiscard]] std::optional<Trap> take(const PublicKey& worker, std::uint64_t random);
  void remove_job(const JobId& job);
  [[nodiscard]] std::size_t size() const { return entries_.size(); }

  static constexpr std::size_t traps_max = 256;
  static constexpr std::size_t workers_max = 64;
  static constexpr std::size_t looks_max = 8;  // Limit of traps that take() looks at.

 private:
  struct Entry {
    Trap trap;
    std::unordered_set<PublicKey> known_to;
  };
  std::deque<Entry> entries_;
};

}  // namespace weft::trust
