// Fair shares between clients: where their jobs stand in the queue follows what was done for them.
#include <algorithm>
#include <cmath>

#include "decisions/scheduler/state.h"

namespace weft::scheduler {
namespace {

constexpr auto refresh_every =
    std::chrono::seconds(5);  // Usage is forgotten slowly; workers come and go.

std::int64_t penalty_of(Duration lead) {
  return std::llround(seconds(lead) / 60 * ageing_per_minute * 1e6);
}

}  // namespace

void Scheduler::State::join_client(JobState& job) {
  shares.add_job(job.spec.client, job.spec.share);
  Client& client = clients[job.spec.client];
  client.jobs[job.rank.sequence] = &job;
  job.rank.place += client.penalty;
  if (client.jobs.size() == 1) shares_stale = true;
}

void Scheduler::State::leave_client(JobState& job) {
  shares.remove_job(job.spec.client);
  const auto client = clients.find(job.spec.client);
  client->second.jobs.erase(job.rank.sequence);
  if (!client->second.jobs.empty()) return;
  clients.erase(client);
  shares_stale = true;
}

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
  if (reference_seconds == 0) return;
  shares.charge(job.spec.client, reference_seconds, now);
  if (shares_stale || clients.size() < 2)
    return;  // All are looked at before anything else is given.
  Client& client = clients.at(job.spec.client);
  const std::int64_t penalty = penalty_of(shares.lead(job.spec.client, now));
  if (penalty <= client.penalty) return;  // Less of a lead is seen by refresh_shares().
  for (auto& [sequence, each] : client.jobs) rerank(*each, penalty - client.penalty);
  client.penalty = penalty;
}

void Scheduler::State::refresh_shares(Instant now) {
  const bool due = !shares_at || now >= *shares_at + refresh_every;
  if (!shares_stale && !due) return;
  shares_stale = false;
  // Not for each client that comes and goes: there may be thousands of workers.
  if (due || shares_of_workers != workers_in_order.size()) {
    shares_at = now;
    shares_of_workers = workers_in_order.size();
    double capacity = 0;
    for (const auto& [sequence, worker] : workers_in_order)
      capacity += worker->info.slots > 0 ? worker->rate : 0;
    shares.set_capacity(capacity);
  }
  shares.forget(now);
  for (auto& [key, client] : clients) {
    const std::int64_t penalty = penalty_of(shares.lead(key, now));
    if (penalty == client.penalty) continue;
    for (auto& [sequence, job] : client.jobs) rerank(*job, penalty - client.penalty);
    client.penalty = penalty;
  }
}

}  // namespace weft::scheduler
