#include "decisions/scheduler/pricing.h"

#include <algorithm>
#include <cmath>

namespace weft::scheduler {

double reference_seconds_per_workgroup(const Measurement& measurement) {
  const bool claimed = std::isfinite(measurement.gpu_seconds) && measurement.gpu_seconds > 0;
  const double seconds = claimed ? std::min(measurement.gpu_seconds, measurement.elapsed_seconds)
                                 : measurement.elapsed_seconds;
  return std::max(seconds, 0.0) * measurement.rate / std::max<double>(measurement.workgroups, 1);
}

Estimate estimate(const JobSize& size, double reference_seconds_per_workgroup,
                  const Pricing& pricing) {
  Estimate result{.reference_seconds_per_workgroup = reference_seconds_per_workgroup};
  result.units =
      reference_seconds_per_workgroup * static_cast<double>(size.workgroups) * size.replicas;

  // All replicas of all tasks have one price, in whole micro-credits, so that a task's price can be
  // divided by its replicas without a remainder.
  const double per_replica =
      result.units * static_cast<double>(pricing.per_unit) / size.tasks / size.replicas;
  // A million credits a replica: this limit keeps the product below 2^63 for every possible job.
  constexpr double most = 1e12;
  const auto whole = std::max(pricing.per_replica_min,
                              static_cast<MicroCredits>(std::ceil(std::min(per_replica, most))));
  result.price = whole * size.replicas * size.tasks;
  return result;
}

}  // namespace weft::scheduler
