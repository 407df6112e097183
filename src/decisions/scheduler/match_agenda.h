// The jobs and workers that the matcher has to look at: jobs that may have a new task to give, and
// workers that may take one. All other jobs and workers were matched before.
//
// A pass over the queue moves the marked jobs into its hand, in the order of their rank. Jobs that
// are marked during a pass wait for the next pass. A job that moves in the queue moves here, too.
//
// Pure. Not safe to share between threads. Memory: an entry for each marked job and worker.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "decisions/scheduler/job_state.h"
#include "decisions/scheduler/worker_table.h"

namespace weft::scheduler {

class MatchAgenda {
 public:
  void mark(JobState& job) { jobs_[job.rank] = &job; }
  void mark(WorkerState& worker) { workers_[worker.sequence] = &worker; }
  // Forgets a job or worker that is about to be erased. Call this outside of a pass only.
  void forget(const JobState& job) { jobs_.erase(job.rank); }
  void forget(const WorkerState& worker) { workers_.erase(worker.sequence); }
  [[nodiscard]] bool empty() const { return jobs_.empty() && workers_.empty(); }

  // Begins a pass: moves all marked jobs into the hand.
  void begin_pass() { hand_ = std::exchange(jobs_, {}); }
  // The first job of the hand; null if it is empty.
  [[nodiscard]] JobState* first() const { return hand_.empty() ? nullptr : hand_.begin()->second; }
  // Removes the first job from the hand, which is not empty, and returns it.
  JobState& take_first();
  // Puts the job back into the hand, so that this pass looks at it once more.
  void put_back(JobState& job) { hand_[job.rank] = &job; }

  [[nodiscard]] bool has_workers() const { return !workers_.empty(); }
  [[nodiscard]] WorkersInOrder take_workers() { return std::exchange(workers_, {}); }

  // Call this before the job's rank changes to `next`.
  void move(JobState& job, const Rank& next);

 private:
  using Jobs = std::map<Rank, JobState*>;

  Jobs jobs_;
  Jobs hand_;  // Jobs of the present pass; empty outside of a pass.
  WorkersInOrder workers_;
};

inline JobState& MatchAgenda::take_first() {
  JobState& job = *hand_.begin()->second;
  hand_.erase(hand_.begin());
  return job;
}

inline void MatchAgenda::move(JobState& job, const Rank& next) {
  for (Jobs* from : {&jobs_, &hand_}) {
    if (from->erase(job.rank) > 0) (*from)[next] = &job;
  }
}

}  // namespace weft::scheduler
