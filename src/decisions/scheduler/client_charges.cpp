#include "decisions/scheduler/client_charges.h"

namespace weft::scheduler {

void ClientCharges::move(JobState& job, std::int64_t change) {
  Rank next = job.rank;
  next.place += change;
  listings_.move(job, next);
}

void ClientCharges::charge(JobState& job, double reference_seconds, Instant now) {
  tables_.clients.charge(job.spec.client, reference_seconds, now,
                         [this](JobState& each, std::int64_t change) { move(each, change); });
}

void ClientCharges::refresh(Instant now) {
  const auto capacity = [this] {
    double sum = 0;
    for (const auto& [sequence, worker] : tables_.workers.in_order())
      sum += worker->info.slots > 0 ? worker->rate : 0;
    return sum;
  };
  tables_.clients.refresh(tables_.workers.size(), capacity, now,
                          [this](JobState& each, std::int64_t change) { move(each, change); });
}

}  // namespace weft::scheduler
