// The price of a job: an estimate in compute units from its canary. One unit is one second at a
// reference rate of 1 TFLOP/s in f32, and costs Pricing::per_unit. docs/pricing.md explains it.
#pragma once

#include <cstdint>

#include "common/base/clock.h"
#include "common/base/ids.h"

namespace weft::scheduler {

struct Pricing {
  MicroCredits per_unit = 1'000'000;  // The price of one unit: one credit.
  // The least price of each replica of each task, so that short tasks earn something.
  MicroCredits per_replica_min = 100;
};

// A measured run of a part of a job.
struct Measurement {
  std::uint32_t workgroups = 0;
  double gpu_seconds = 0;  // GPU seconds that the worker claims; 0: no claim.
  double elapsed_seconds =
      // Seconds from lease to result by the coordinator's clock. The claimed GPU seconds count at
      // most up to this.
      0;
  double rate = 1;  // The worker's rate, relative to the reference (1 TFLOP/s).
};

// The reference seconds that one workgroup takes. Never more than the time that passed on the
// coordinator's clock allows.
[[nodiscard]] double reference_seconds_per_workgroup(const Measurement& measurement);

struct Estimate {
  double reference_seconds_per_workgroup = 0;
  double units = 0;        // Compute units of all replicas of all tasks.
  MicroCredits price = 0;  // The price of the whole job; a multiple of the number of its tasks.

  friend bool operator==(const Estimate&, const Estimate&) = default;
};

struct JobSize {
  std::uint64_t workgroups = 1;  // Workgroups of the whole job along the split axis.
  std::uint32_t tasks = 1;
  std::uint32_t replicas = 1;
};
[[nodiscard]] Estimate estimate(const JobSize& size, double reference_seconds_per_workgroup,
                                const Pricing& pricing);

// The price of one task of the job, as input of ledger::pay_task.
[[nodiscard]] inline MicroCredits task_price(const Estimate& estimate, std::uint32_t tasks) {
  return estimate.price / tasks;
}

}  // namespace weft::scheduler
