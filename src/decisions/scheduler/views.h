// The state of the queue for pages and tests, as plain data.
#pragma once

#include <cstdint>
#include <optional>

#include "common/base/clock.h"
#include "common/base/ids.h"
#include "decisions/scheduler/pricing.h"

namespace weft::scheduler {

struct JobProgress {
  std::uint32_t settled = 0;
  std::uint32_t leased = 0;  // The number of present leases; each replica counts.
  bool canary_passed = false;
  std::optional<Estimate> estimate;
};

struct WorkerLoad {
  std::uint32_t held = 0;
  std::uint32_t slots = 0;
  double rate = 0;             // The rate measured so far, relative to the reference.
  MicroCredits price_min = 0;  // Worker::price_min, rounded up a little as in PriceFloors.
};

// A reservation: a job's next task waits for room on this worker, expected at `start`.
struct ReservationView {
  JobId job;
  PublicKey worker;
  Instant start;
};

// The share of the network that one client has (fair_share.h).
struct ClientShare {
  std::uint32_t jobs = 0;   // The number of the client's present jobs.
  double used_seconds = 0;  // Seconds of the reference; old use decays.
  double lead_seconds = 0;  // The delay that the client's jobs have in the queue.
};

// The terms under which a worker runs a range of a job whose canary has passed.
struct LeaseTerms {
  std::uint32_t piece_workgroups_max = 0;
  std::uint32_t wall_ms_max = 0;
};

}  // namespace weft::scheduler
