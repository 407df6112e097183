// One pass over the queue: which jobs are looked at, and in which order. Which worker then gets a
// job's next task is worker_choice.h.
//
// Jobs come in the order of their rank. Only those that have changed, and those that a changed
// worker might take something of, are looked at: everything else was matched before. The latter are
// found class by class, from the front of each queue for as long as a changed worker of the class
// has room: to ask each worker for its next job instead would ask all of them again for every job
// that only one can have.
//
// What is given may put its client's jobs further back (client_charges.h): those that were to be
// looked at stay so at their new place, and the queues' fronts go on from where they were. Where a
// promise is kept elsewhere its worker is free for those behind.
//
// Pure; not safe to share between threads.
#pragma once

#include "decisions/scheduler/scheduler_tables.h"
#include "decisions/scheduler/worker_choice.h"

namespace weft::scheduler {

// After it no worker that has room could take a task of any job, except of what the agenda has
// marked meanwhile: that takes another pass. O(log workers) for each class of requirements in use
// and task given; nothing scans tasks.
void match(SchedulerTables& tables, WorkerChoice& choice, Instant now);

}  // namespace weft::scheduler
