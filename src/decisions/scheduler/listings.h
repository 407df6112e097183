// Where jobs and workers stand in the indexes that make matching cheap: a job that has something to
// give in its class's queue, a worker that has room among the free of its classes, and when it has
// to be looked at.
//
// Call list() after anything that may have changed where a job or worker stands. Pure; not safe to
// share between threads. O(log jobs), or O(classes log workers).
#pragma once

#include "decisions/scheduler/prospects.h"
#include "decisions/scheduler/scheduler_tables.h"

namespace weft::scheduler {

class Listings {
 public:
  Listings(SchedulerTables& tables, const Prospects& prospects)
      : tables_(tables), prospects_(prospects) {}

  void list(JobState& job);
  // The job ends: it stands nowhere.
  static void unlist(JobState& job);
  // Gives the job another rank, wherever it stands.
  void move(JobState& job, const Rank& next);
  // A worker that is gone stands nowhere.
  void list(WorkerState& worker);

 private:
  SchedulerTables& tables_;
  const Prospects& prospects_;
};

}  // namespace weft::scheduler
