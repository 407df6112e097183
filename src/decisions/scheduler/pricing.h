// What a job costs: an estimate in compute units from its canary. One unit is one second at a
// reference rate of 1 TFLOP/s in f32, and costs `credits_per_unit`. docs/pricing.md explains it.
#pragma once

#include <cstdint>

#include "common/base/clock.h"
#include "common/base/ids.h"

namespace weft::scheduler {

struct Pricing {
  MicroCredits per_unit = 1'000'000;  // One credit.
  // For each replica of each task at least; so that short tasks earn something.
  MicroCredits per_replica_min = 100;
};

// A run of a part of a job, as measured.
struct Measurement {
  std::uint32_t workgroups = 0;
  double gpu_seconds = 0;  // The worker's claim; 0 where it has none.
  double elapsed_seconds =
      0;  // From lease to result by the coordinator's clock: what the claim is held against.
  double rate = 1;  // The worker's, relative to the reference (1 TFLOP/s).
};

// Reference seconds a workgroup takes: never more than what passed on the coordinator's clock.
[[nodiscard]] double reference_seconds_per_workgroup(const Measurement& measurement);

struct Estimate {
  double reference_seconds_per_workgroup = 0;
  double units = 0;        // All tasks, all replicas.
  MicroCredits price = 0;  // Price of the whole job; a multiple of its tasks.

  friend bool operator==(const Estimate&, const Estimate&) = default;
};

struct JobSize {
  std::uint64_t workgroups = 1;  // Along the split axis, of the whole job.
  std::uint32_t tasks = 1;
  std::uint32_t replicas = 1;
};
[[nodiscard]] Estimate estimate(const JobSize& size, double reference_seconds_per_workgroup,
                                const Pricing& pricing);

// What one task of it costs: price / tasks. Feed it to ledger::pay_task.
[[nodiscard]] inline MicroCredits task_price(const Estimate& estimate, std::uint32_t tasks) {
  return estimate.price / tasks;
}

}  // namespace weft::scheduler
