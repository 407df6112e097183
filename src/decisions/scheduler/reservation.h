// EASY backfill (Lifka 1995). If no worker can start the task at the head of the queue now, the
// task is promised the worker on which it can start soonest. Meanwhile another task may start on
// this worker only if it does not delay the promised task: it is expected to end before the
// promised start, or it uses memory that the promised task does not need.
//
// This is for workers whose slots run at the same time and share the worker's memory
// (Sharing::sliced). Predicted ends assume that all slots are busy, so that a task that joins never
// makes another task later than predicted.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "common/base/clock.h"

namespace weft::scheduler {

// A task that runs on the worker.
struct Occupant {
  Instant ends;  // The predicted end of the task.
  std::uint64_t memory_bytes = 0;
};

struct Room {
  std::uint64_t memory_bytes = 0;
  std::uint32_t slots = 1;
};

// The predicted time at which a slot and `memory_bytes` of memory will be free; `now` if they are
// free already. Late tasks are expected to end now. No value if the worker is too small.
[[nodiscard]] std::optional<Instant> earliest_start(const Room& room,
                                                    std::span<const Occupant> occupants,
                                                    std::uint64_t memory_bytes, Instant now);

struct Promise {
  Instant start;
  std::uint64_t memory_bytes = 0;  // The memory that the promised task needs.
};
// True if a task that fits now may start now without delaying the promised task.
[[nodiscard]] bool may_backfill(const Room& room, std::span<const Occupant> occupants,
                                const Promise& promise, const Occupant& task);

}  // namespace weft::scheduler
