// Finds places for urgent tasks: decides which run makes way, and when. preemption.h says which
// runs may make way and what they lose by it.
//
// Pure; not safe to share between threads. A look at the queues is O(classes), at most four times a
// second while a job waits for a place.
#pragma once

#include <cstdint>
#include <optional>

#include "common/base/result.h"
#include "decisions/scheduler/events.h"
#include "decisions/scheduler/leases.h"
#include "decisions/scheduler/listings.h"
#include "decisions/scheduler/long_runs.h"
#include "decisions/scheduler/prospects.h"
#include "decisions/scheduler/scheduler_tables.h"
#include "decisions/scheduler/task_choice.h"

namespace weft::scheduler {

class MakingWay {
 public:
  struct Parts {
    const Prospects& prospects;
    Listings& listings;
    LongRuns& long_runs;
    TaskChoice& choice;
    Leases& leases;
  };
  MakingWay(SchedulerTables& tables, const Parts& parts) : tables_(tables), parts_(parts) {}

  // Call this after a pass of the matcher. A job that is still first in the queue of its class then
  // waits because no worker that could take its task is free.
  void look(Instant now);
  // When look() is to be called again.
  [[nodiscard]] std::optional<Instant> next_look() const { return look_at_; }
  // Call it when the worker has stored a checkpoint of the task. The lease ends if an urgent task
  // wants the worker's place, or if the worker has stopped. Fails with not_found if the worker does
  // not run this attempt.
  [[nodiscard]] Result<> checkpointed(const TaskCheckpoint& checkpoint, Instant now);
  // The number of tasks that were stopped for more urgent ones.
  [[nodiscard]] std::uint64_t made() const { return made_; }

 private:
  void find_place(JobState& urgent, RequirementClass::Phase phase, Instant now);
  // Ends the worker's lease now. The work since its last checkpoint is done again.
  void stop(WorkerState& worker, JobState& job, std::uint32_t index, Instant now);
  // Predicts a canary's length from its first checkpoint and adds it to the worker's load, so that
  // no task is put after a long canary.
  void time_canary(WorkerState& worker, JobState& job, Holding& holding,
                   const TaskCheckpoint& checkpoint, Instant now);

  SchedulerTables& tables_;
  Parts parts_;
  std::optional<Instant> look_at_;  // Set while a job waits for a place.
  std::uint64_t made_ = 0;
};

}  // namespace weft::scheduler
