// A connected worker and what it holds. Plain data.
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
  double seconds = 0;     // Predicted, at the slowest pace.
  double usual = 0;       // At the usual one.
  Instant since;          // Leased, later reported.
  double charged = 0;     // To its client, in reference seconds.
  Instant look_again;     // Whether it is late, at the earliest.
  bool newcomer = false;  // Its worker was one when it was leased.
};

// Results correct what a worker says of its speed by at most this, either way.
inline constexpr double rate_correction_max = 10;
// And what is assumed of one that has shown nothing.
inline constexpr double rate_shown_max = 1000;

struct WorkerState {
  Worker info;
  std::uint64_t sequence = 0;  // Order of arrival.
  double rate_said =
      1;            // Relative to the reference, as it measured itself: what prices are made with.
  double rate = 1;  // Corrected by what its results show: what its work is predicted with.
  std::vector<Holding> running;   // In the order in which it runs them.
  std::vector<Holding> reported;  // Waiting for their receipts.
  Instant head_since;             // When it began with running.front().
  Instant heard;
  double load_seconds = 0;
  std::size_t full_at =
      0;  // How many tasks it held when it had no room any more; 0: it is being filled.
  JobState* promised = nullptr;  // Which job's task waits for room here,
  Promise promise;               // and what it was promised.
  Presence* presence = nullptr;
  std::uint32_t expiries = 0;  // In a row.
  std::optional<Instant> deadline;
  std::vector<RequirementClass*> classes;  // That it fits.
  std::optional<FreeKey> free_key;         // Under which it stands in their `free`.
  bool gone = false;                       // Being removed: nothing is sent to it.

  double sample_share = 1;  // The part of each of its results that a check computes again.
  bool ranks_last = false;  // Behind all that are trusted.
  std::uint32_t leases_max = std::numeric_limits<std::uint32_t>::max();

  [[nodiscard]] bool newcomer() const { return info.standing == Standing::newcomer; }
  [[nodiscard]] bool established() const { return info.standing == Standing::established; }
  [[nodiscard]] bool native() const { return info.kind == protocol::WorkerKind::native; }
  [[nodiscard]] bool sliced() const { return info.sharing == Sharing::sliced; }
  [[nodiscard]] std::size_t side() const { return static_cast<std::size_t>(info.kind); }
};

}  // namespace weft::scheduler
