// The reason why a waiting task does not run now, for a client that sees no progress. It is
// computed from the state when it is asked for, in O(workers), and never while a decision is made.
// Asking changes nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/ids.h"

namespace weft::scheduler {

// The reasons, ordered from the one farthest from running to the nearest one.
enum class WaitReason : std::uint8_t {
  no_workers,    // No worker is connected, or all have paused.
  requirements,  // No worker meets the job's requirements: see Waiting::lacks.
  price,         // No worker that meets the requirements accepts the price (Worker::price_min).
  wallets,  // Each replica needs a worker of a different wallet, and too few wallets have workers.
  // The task would exceed its time limit on every worker. It is tried nevertheless when no worker
  // is busy.
  too_slow,
  retry,   // The task failed on the workers that can run it, and is tried again soon.
  canary,  // The job's canary runs first, to show how long tasks take.
  // The task made way, and waits for the worker that has its state, until another worker may begin
  // it again.
  own_state,
  checks,    // Only newcomers are free, and their results would wait too long for a check.
  patience,  // Free workers are too slow or leave too soon; a better one may become free.
  memory,    // The free workers have no room left in their memory.
  promised,  // The room of the free workers is promised to another task, which comes first.
  reserved,  // The task has a promise of room that will become free (reservation.h).
  // A task of less worth was asked to stop for this task at its next checkpoint (preemption.h).
  making_way,
  busy,  // All workers that could run the task have enough to do.
};
// The name of the reason: "no-workers", "too-slow", ...
[[nodiscard]] std::string_view to_string(WaitReason reason);

struct Waiting {
  WaitReason reason = WaitReason::busy;
  std::uint32_t index = 0;      // The task of the job that is nearest to running.
  std::uint32_t connected = 0;  // The number of connected workers.
  std::uint32_t paused = 0;     // The number of connected workers that have paused.
  std::uint32_t able = 0;  // The number of workers that take tasks and meet the job's requirements.
  std::uint32_t replicas = 0;  // The number of replicas that the task wants in all.
  std::uint32_t placed = 0;    // The number of the task's replicas that are running or done.
  // Set if no worker meets the job's requirements: each missing requirement, in words, with the
  // number of workers that lack it, the most frequent first.
  struct Lack {
    std::string what;  // "the feature shader-f16"
    std::uint32_t workers = 0;
  };
  std::vector<Lack> lacks;
  // For `busy`: the job's place among the waiting jobs with the same requirements, from 1 on. 0
  // means that more than position_max jobs are before it.
  std::uint32_t position = 0;
  // For `too_slow`: the task's time on the fastest worker. Otherwise the expected time until
  // something changes.
  std::optional<double> seconds;
  MicroCredits per_unit = 0;  // The price of a unit, if the reason is `price`.
  MicroCredits accepted = 0;  // The least price that a worker accepts, if the reason is `price`.
  double seconds_max = 0;     // The time limit, if the reason is `too_slow`.
  // The delay of the job in the queue, because its client had more than its share (fair_share.h).
  double lead_seconds = 0;

  static constexpr std::uint32_t position_max = 10'000;
};
// The reason in one or two sentences, for people.
[[nodiscard]] std::string sentence(const Waiting& waiting);

}  // namespace weft::scheduler
