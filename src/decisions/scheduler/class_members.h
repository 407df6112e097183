// The membership of workers in the classes that they fit. A worker is counted in a class while it
// takes tasks; there are counts by kind, standing, least price and rate. A change of these counts
// decides which jobs are looked at again.
//
// Pure; not safe to share between threads. Costs: O(classes that the worker fits), and O(waiting
// canaries of these classes) if the first or last worker of a kind comes or goes.
#pragma once

#include "decisions/scheduler/listings.h"
#include "decisions/scheduler/long_runs.h"
#include "decisions/scheduler/room_promises.h"
#include "decisions/scheduler/scheduler_tables.h"

namespace weft::scheduler {

class ClassMembers {
 public:
  struct Parts {
    Listings& listings;
    LongRuns& long_runs;
    RoomPromises& promises;
  };
  ClassMembers(SchedulerTables& tables, const Parts& parts) : tables_(tables), parts_(parts) {}

  // Adds a connected worker: counts it if it takes tasks, and lists it among the free workers.
  void enter(WorkerState& worker);
  // Sets the worker's number of slots. 0 pauses the worker: it finishes the tasks that it holds,
  // and tasks that were promised or reserved for it go to other workers.
  void set_slots(WorkerState& worker, std::uint32_t slots);
  void set_standing(WorkerState& worker, Standing standing);
  // Sets the worker's rate, relative to the reference.
  void set_rate(WorkerState& worker, double rate);

  // True if the scheduler believes the speed and the times that a worker of this standing reports.
  [[nodiscard]] bool says(Standing standing) const {
    return standing == Standing::invited || !tables_.settings.safeguards.rates_are_shown;
  }
  // Returns the rate that is assumed of a worker whose speed is unknown: the lower quartile of the
  // other workers' rates. O(workers).
  [[nodiscard]] double assumed_rate() const;

 private:
  // Adds the worker to the counts of its classes (`change` 1) or subtracts it from them (-1).
  void count(WorkerState& worker, int change);
  // Call it when the last trusted worker of a class that accepted some price has gone: other
  // workers may then take the tasks that were kept for it.
  void trusted_gone(RequirementClass& of);

  SchedulerTables& tables_;
  Parts parts_;
};

}  // namespace weft::scheduler
