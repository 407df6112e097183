// One pass over the queue: decides which jobs are looked at, and in which order. worker_choice.h
// decides which worker gets a job's next task.
//
// Jobs are looked at in the order of their rank. A pass looks only at two kinds of jobs: those that
// have changed, and those from which a changed worker might take a task. All others were matched
// before. The jobs for changed workers are found class by class, from the front of each queue,
// while a changed worker of the class has room. The pass does not ask each worker for its next job,
// because every job that only one worker can have would then make it ask all workers again.
//
// A lease may move the jobs of its client further back (client_charges.h). Jobs that were still to
// be looked at are looked at in their new place, and the fronts of the queues continue after the
// old place. If a promise moves to another worker, the old worker is free for the next jobs.
//
// Pure; not safe to share between threads.
#pragma once

#include "decisions/scheduler/scheduler_tables.h"
#include "decisions/scheduler/worker_choice.h"

namespace weft::scheduler {

// Leases tasks until no worker that has room could take a task of any job. Jobs and workers that
// are marked in the agenda meanwhile need another pass. O(log workers) for each class of
// requirements in use and each task given; nothing scans tasks.
void match(SchedulerTables& tables, WorkerChoice& choice, Instant now);

}  // namespace weft::scheduler
