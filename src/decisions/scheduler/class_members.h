// Which workers count as members of the classes that they fit, and with what: they are counted
// while they take tasks, by their kind, standing, least price and rate. What changes there decides
// which jobs are looked at again.
//
// Pure; not safe to share between threads. O(classes that the worker fits), and O(waiting canaries
// of those) where the first or last worker of a kind comes or goes.
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

  // The worker has just come: it is counted where it takes tasks, and stands among the free.
  void enter(WorkerState& worker);
  // 0 pauses it: what it holds is finished, and what was promised or kept there goes elsewhere.
  void set_slots(WorkerState& worker, std::uint32_t slots);
  void set_standing(WorkerState& worker, Standing standing);
  // Relative to the reference.
  void set_rate(WorkerState& worker, double rate);

  // Whether what a worker of this standing says of its speed and its times counts.
  [[nodiscard]] bool says(Standing standing) const {
    return standing == Standing::invited || !tables_.settings.safeguards.rates_are_shown;
  }
  // What is assumed of a worker that has shown nothing: the lower quartile of the others' rates.
  // O(workers).
  [[nodiscard]] double assumed_rate() const;

 private:
  // Counts it in, or out, of its classes.
  void count(WorkerState& worker, int change);
  // A trusted worker of a class has gone that was the last to accept some price: others may take
  // what was kept for it.
  void trusted_gone(RequirementClass& of);

  SchedulerTables& tables_;
  Parts parts_;
};

}  // namespace weft::scheduler
