// A connected worker and the tasks that it holds. Plain data.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "decisions/scheduler/presence.h"
#include "decisions/scheduler/requirement_class.h"
#include "decisions/scheduler/reservation.h"
#include "decisions/scheduler/types.h"

namespace weft::scheduler {

struct JobState;

struct Holding {
  JobState* job = nullptr;
  std::uint32_t index = 0;
  std::uint32_t attempt = 0;
  double seconds = 0;     // The time predicted from the slowest pace.
  double usual = 0;       // The time predicted from the usual pace.
  Instant since;          // When the task was leased; later, when it was reported.
  double charged = 0;     // Reference seconds charged to the client.
  Instant look_again;     // When to check next if the task is late.
  bool newcomer = false;  // True if the worker was a newcomer at the lease.
};

// The largest factor by which results correct a speed that a worker claims, up or down.
inline constexpr double rate_correction_max = 10;
// The largest factor by which results correct a speed that was assumed for a worker, up or down.
inline constexpr double rate_shown_max = 1000;

struct WorkerState {
  Worker info;
  std::uint64_t sequence = 0;  // Numbers workers in the order of arrival.
  double rate_said =
      1;  // The rate that the worker claims, relative to the reference; prices are made with it.
  double rate = 1;                // rate_said, corrected by results; predictions are made with it.
  std::vector<Holding> running;   // Tasks in the order in which the worker runs them.
  std::vector<Holding> reported;  // Reported tasks that wait for their receipts.
  Instant head_since;             // The time at which running.front() began.
  Instant heard;
  double load_seconds = 0;
  std::size_t full_at =
      // The number of tasks that the worker held when it was last full; 0 while tasks are added to
      // it.
      0;
  JobState* promised = nullptr;  // The job whose task waits for room on this worker.
  Promise promise;               // The room that `promised` is waiting for.
  Presence* presence = nullptr;
  std::uint32_t expiries = 0;  // The number of leases in a row that expired.
  std::optional<Instant> deadline;
  std::vector<RequirementClass*> classes;  // The requirement classes that the worker fits.
  std::optional<FreeKey> free_key;         // The worker's key in the `free` map of its classes.
  bool gone = false;  // True while the worker is removed: nothing is sent to it.

  double sample_share = 1;  // The part of each of the worker's results that a check computes again.
  bool ranks_last = false;  // True if all trusted workers come before this one.
  std::uint32_t leases_max = std::numeric_limits<std::uint32_t>::max();

  [[nodiscard]] bool newcomer() const { return info.standing == Standing::newcomer; }
  [[nodiscard]] bool established() const { return info.standing == Standing::established; }
  [[nodiscard]] bool native() const { return info.kind == protocol::WorkerKind::native; }
  [[nodiscard]] bool sliced() const { return info.sharing == Sharing::sliced; }
  [[nodiscard]] std::size_t side() const { return static_cast<std::size_t>(info.kind); }
};

}  // namespace weft::scheduler
