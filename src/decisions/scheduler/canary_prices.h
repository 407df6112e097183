// The price of a job, from the measurements of its canaries. An established worker can report a
// false pace by working slowly. So one established worker alone neither prices a job nor ends it,
// and the price follows the median of three. An invited worker or the operator's device prices a
// job alone.
//
// Pure; not safe to share between threads. Paces are in reference seconds a workgroup.
#pragma once

#include <span>

#include "decisions/scheduler/scheduler_tables.h"

namespace weft::scheduler {

class CanaryPrices {
 public:
  explicit CanaryPrices(SchedulerTables& tables) : tables_(tables) {}

  // Returns the price that follows from the paces in `own` and from the paces that earlier canaries
  // of equal work have shown.
  [[nodiscard]] Estimate priced(const JobState& job, std::span<const double> own) const;
  // Records the measurement of an established worker. Each worker counts once, and at most three
  // workers count.
  void note(JobState& job, const Measurement& measurement, const WorkerState& by);
  // True if an established worker that has not measured the job yet could measure it. O(workers).
  [[nodiscard]] bool another_measures(const JobState& job) const;
  // True if the worker has measured the job already, so that it leaves the job's next canary to
  // other workers.
  [[nodiscard]] bool leaves_canary(const WorkerState& worker, const JobState& job) const;
  // Uses a further result of a job that has a price: the measurement of a third established worker
  // may correct the price.
  void reprice(JobState& job, const Measurement& measurement, const WorkerState& by);

 private:
  SchedulerTables& tables_;
};

}  // namespace weft::scheduler
