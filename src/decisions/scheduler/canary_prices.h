// What a job's canaries show of its price. An established worker may say anything, by taking its
// time: one of them neither prices a job nor ends it, and the price follows the median of three. An
// invited worker and the operator's device price a job alone.
//
// Pure; not safe to share between threads. Paces are reference seconds a workgroup.
#pragma once

#include <span>

#include "decisions/scheduler/scheduler_tables.h"

namespace weft::scheduler {

class CanaryPrices {
 public:
  explicit CanaryPrices(SchedulerTables& tables) : tables_(tables) {}

  // The price that these paces make, with those that earlier canaries of the same work have shown.
  [[nodiscard]] Estimate priced(const JobState& job, std::span<const double> own) const;
  // An established worker has measured the job. Each of them counts once, and three at most.
  void note(JobState& job, const Measurement& measurement, const WorkerState& by);
  // Whether an established worker that has not measured the job could. O(workers).
  [[nodiscard]] bool another_measures(const JobState& job) const;
  // Whether the worker has measured the job, whose canary others are to run now.
  [[nodiscard]] bool leaves_canary(const WorkerState& worker, const JobState& job) const;
  // One more result of a job that has a price: the third worker that measures it may correct that.
  void reprice(JobState& job, const Measurement& measurement, const WorkerState& by);

 private:
  SchedulerTables& tables_;
};

}  // namespace weft::scheduler
