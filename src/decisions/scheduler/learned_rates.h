// Learns from results how fast workers are and how long a job's work takes.
//
// Pure; not safe to share between threads. Rates are relative to the reference; paces are in
// reference seconds a workgroup.
#pragma once

#include "decisions/scheduler/canary_prices.h"
#include "decisions/scheduler/class_members.h"
#include "decisions/scheduler/scheduler_tables.h"

namespace weft::scheduler {

class LearnedRates {
 public:
  LearnedRates(const SchedulerTables& tables, CanaryPrices& prices, ClassMembers& members)
      : tables_(tables), prices_(prices), members_(members) {}

  // Updates the worker's rate, the job's paces and the job's price from a result of a job whose
  // canary has passed.
  void learn(WorkerState& worker, JobState& job, const Measurement& measurement);

 private:
  const SchedulerTables& tables_;
  CanaryPrices& prices_;
  ClassMembers& members_;
};

}  // namespace weft::scheduler
