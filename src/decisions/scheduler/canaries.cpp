// What runs beside a job's canary, and what waits behind one.
#include "decisions/scheduler/state.h"

namespace weft::scheduler {

// The canary has passed while others of its job were under way: how long they take is known now,
// too.
void Scheduler::State::time_scouts(JobState& job, Instant now) {
  for (auto& [index, task] : job.tasks) {
    for (const ReplicaOf& replica : task.replicas) {
      if (replica.state != ReplicaState::leased) continue;
      WorkerState& worker = tables_.workers.at(replica.worker);
      for (Holding& each : worker.running) {
        if (each.job != &job || each.index != index || each.seconds > 0) continue;
        each.seconds = prospects_.predicted_seconds(worker, job, index);
        each.usual = each.seconds;
        worker.load_seconds += each.usual;
        long_runs_.watch(worker, job, index, each.seconds, now);
      }
      listings_.list(worker);
    }
  }
}

// What was put after it goes back into the queue, for any free worker. The worker has fetched its
// data for nothing, at most.
void Scheduler::State::take_back(WorkerState& worker, Instant now) {
  if (worker.running.size() < 2 || !prospects_.is_stuck(worker)) return;
  const Error why{ErrorCode::cancelled, "It waited behind a task of unknown length."};
  Cancel cancel{.worker = worker.info.key, .tasks = {}, .reason = why.message};
  while (worker.running.size() > 1) {
    const Holding holding = worker.running[1];
    cancel.tasks.push_back(
        {.task = holding.job->task_id(holding.index), .attempt = holding.attempt});
    lose(worker, *holding.job, holding.index, Blame::ours, why, now);
  }
  tables_.out.push_back(std::move(cancel));
}

}  // namespace weft::scheduler
