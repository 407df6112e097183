// How fast workers are, and how long a job's work takes, as results show it.
//
// Pure; not safe to share between threads. Rates are relative to the reference; paces are reference
// seconds a workgroup.
#pragma once

#include "decisions/scheduler/canary_prices.h"
#include "decisions/scheduler/class_members.h"
#include "decisions/scheduler/scheduler_tables.h"

namespace weft::scheduler {

class LearnedRates {
 public:
  LearnedRates(const SchedulerTables& tables, CanaryPrices& prices, ClassMembers& members)
      : tables_(tables), prices_(prices), members_(members) {}

  // A result of a job whose canary has passed: the worker's rate, the job's paces and its price
  // learn from it.
  void learn(WorkerState& worker, JobState& job, const Measurement& measurement);

 private:
  const SchedulerTables& tables_;
  CanaryPrices& prices_;
  ClassMembers& members_;
};

}  // namespace weft::scheduler
