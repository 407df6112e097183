// Fair shares between clients: a job's place in the queue follows what was done for its client.
#include "decisions/scheduler/state.h"

namespace weft::scheduler {

// Within match() a job only ever moves back, and what match() goes through next is behind where it
// was: see there.
void Scheduler::State::rerank(JobState& job, std::int64_t change) {
  Rank next = job.rank;
  next.place += change;
  const auto move = [&](std::map<Rank, JobState*>& from) {
    if (from.erase(job.rank) > 0) from[next] = &job;
  };
  if (job.listed_phase != RequirementClass::phases)
    move(job.requirements->needing[job.listed_phase]);
  move(changed_jobs);
  move(jobs_at_hand);
  job.rank = next;
}

void Scheduler::State::charge(JobState& job, double reference_seconds, Instant now) {
  clients.charge(job.spec.client, reference_seconds, now,
                 [this](JobState& each, std::int64_t change) { rerank(each, change); });
}

void Scheduler::State::refresh_shares(Instant now) {
  const auto capacity = [this] {
    double sum = 0;
    for (const auto& [sequence, worker] : workers_in_order)
      sum += worker->info.slots > 0 ? worker->rate : 0;
    return sum;
  };
  clients.refresh(workers_in_order.size(), capacity, now,
                  [this](JobState& each, std::int64_t change) { rerank(each, change); });
}

}  // namespace weft::scheduler
