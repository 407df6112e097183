// EASY backfill (Lifka 1995): if no worker can start the task at the head of the queue now, it is
// promised the worker where it can start soonest, and others may go there in the meantime only
// where that does not delay it: they are expected to have ended by then, or what they take is not
// needed then.
//
// For workers whose slots run at a time and share its memory (Sharing::sliced). Predicted ends are
// those with all slots busy, so that a task that joins never makes another one later than
// predicted.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "common/base/clock.h"

namespace weft::scheduler {

// A task that runs on the worker.
struct Occupant {
  Instant ends;  // As predicted.
  std::uint64_t memory_bytes = 0;
};

struct Room {
  std::uint64_t memory_bytes = 0;
  std::uint32_t slots = 1;
};

// When a slot and so much memory will be free, going by the predictions: `now` where they are.
// Those that are late are expected to end now. Nothing where the worker is too small.
[[nodiscard]] std::optional<Instant> earliest_start(const Room& room,
                                                    std::span<const Occupant> occupants,
                                                    std::uint64_t memory_bytes, Instant now);

struct Promise {
  Instant start;
  std::uint64_t memory_bytes = 0;  // That the promised task needs.
};
// Whether a task that fits now may start now without delaying the promised one.
[[nodiscard]] bool may_backfill(const Room& room, std::span<const Occupant> occupants,
                                const Promise& promise, const Occupant& task);

}  // namespace weft::scheduler
