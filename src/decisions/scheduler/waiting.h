// Why a task that waits runs nowhere now, for a client that sees nothing happen.
// Worked out from the state when it is asked for, in O(workers), and never on the way to a
// decision; asking changes nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/ids.h"

namespace weft::scheduler {

// The farther from running, the earlier here.
enum class WaitReason : std::uint8_t {
  no_workers,    // None is connected, or all that are have paused.
  requirements,  // None has what the job requires: see Waiting::lacks.
  price,         // None that has what it requires accepts its price (Worker::price_min).
  wallets,       // Each replica goes to another wallet's worker, and there are too few.
  too_slow,      // On none of them would it end within the time that a task has. It is tried
                 // nevertheless when no worker is busy.
  retry,         // It failed where it could run, and is tried there again in a moment.
  canary,        // Its job's first task runs first, to show what they take; of urgent jobs, a few.
  own_state,   // It made way, and the worker that has its state is to go on with it; another begins
               // it again after that.
  checks,      // Only newcomers are free, whose results would wait too long for a check.
  patience,    // Every free worker is too slow or will leave too soon; a better one may get free.
  memory,      // The workers that are free have no room left in their memory.
  promised,    // Their room is promised to a task that comes first.
  reserved,    // It has a promise itself, of room that gets free (reservation.h).
  making_way,  // A task of less worth was asked to stop for it at its next checkpoint
               // (preemption.h).
  busy,        // All that could run it have enough to do.
};
// "no-workers", "too-slow", ...
[[nodiscard]] std::string_view to_string(WaitReason reason);

struct Waiting {
  WaitReason reason = WaitReason::busy;
  std::uint32_t index = 0;      // Index of the task: the one of its job that is nearest to running.
  std::uint32_t connected = 0;  // Workers,
  std::uint32_t paused = 0;     // of which so many take nothing,
  std::uint32_t able = 0;       // and so many have what the job requires and take tasks.
  std::uint32_t replicas = 0;   // The task's replicas: wanted in all,
  std::uint32_t placed = 0;     // and of those, running or done.
  // If no worker has what the job requires: each thing that workers lack, by how many, the most
  // first. In words.
  struct Lack {
    std::string what;  // "the feature shader-f16"
    std::uint32_t workers = 0;
  };
  std::vector<Lack> lacks;
  std::uint32_t position = 0;  // busy: among the waiting jobs that require the same, from 1 on; 0:
                               // behind position_max of them.
  std::optional<double> seconds;  // too_slow: what it takes on the fastest. Others: until something
                                  // changes, as expected.
  MicroCredits per_unit = 0;      // price: what a unit of it costs,
  MicroCredits accepted = 0;      // and the least that a worker accepts.
  double seconds_max = 0;         // too_slow: what it may take.
  double lead_seconds =
      0;  // So much later its client's jobs stand, which had more than its share (fair_share.h).

  static constexpr std::uint32_t position_max = 10'000;
};
// One sentence or two, for people.
[[nodiscard]] std::string sentence(const Waiting& waiting);

}  // namespace weft::scheduler
