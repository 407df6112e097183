// Fair shares between clients: a job's place in the queue follows what was done for its client.
#include "decisions/scheduler/state.h"

namespace weft::scheduler {

// Within match() a job only ever moves back, and what match() goes through next is behind where it
// was: see there.
void Scheduler::State::rerank(JobState& job, std::int64_t change) {
  Rank next = job.rank;
  next.place += change;
  listings_.move(job, next);
}

void Scheduler::State::charge(JobState& job, double reference_seconds, Instant now) {
  tables_.clients.charge(job.spec.client, reference_seconds, now,
                         [this](JobState& each, std::int64_t change) { rerank(each, change); });
}

void Scheduler::State::refresh_shares(Instant now) {
  const auto capacity = [this] {
    double sum = 0;
    for (const auto& [sequence, worker] : tables_.workers.in_order())
      sum += worker->info.slots > 0 ? worker->rate : 0;
    return sum;
  };
  tables_.clients.refresh(tables_.workers.size(), capacity, now,
                          [this](JobState& each, std::int64_t change) { rerank(each, change); });
}

}  // namespace weft::scheduler
