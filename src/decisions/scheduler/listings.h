// Keeps the scheduler's indexes up to date. A job that has tasks to give is in the queue of its
// requirement class, and a worker that has room is among the free workers of each class that it
// fits. The next deadline of each worker is in `deadlines`.
//
// Call list() after every change that may move a job or a worker in these indexes. Pure; not safe
// to share between threads. O(log jobs) for a job, O(classes log workers) for a worker.
#pragma once

#include "decisions/scheduler/prospects.h"
#include "decisions/scheduler/scheduler_tables.h"

namespace weft::scheduler {

class Listings {
 public:
  Listings(SchedulerTables& tables, const Prospects& prospects)
      : tables_(tables), prospects_(prospects) {}

  void list(JobState& job);
  // Removes a job that ends from all indexes.
  static void unlist(JobState& job);
  // Gives the job another rank in every index that lists it.
  void move(JobState& job, const Rank& next);
  // Lists the worker where it belongs now. A worker that is gone is listed nowhere.
  void list(WorkerState& worker);

 private:
  SchedulerTables& tables_;
  const Prospects& prospects_;
};

}  // namespace weft::scheduler
