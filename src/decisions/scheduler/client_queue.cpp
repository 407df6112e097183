#include "decisions/scheduler/client_queue.h"

#include <algorithm>
#include <cmath>

#include "decisions/scheduler/job_state.h"

namespace weft::scheduler {
namespace {

constexpr auto refresh_every = std::chrono::seconds(5);  // Old usage decays slowly.

std::int64_t penalty_of(Duration lead) {
  return std::llround(seconds(lead) / 60 * ageing_per_minute * 1e6);
}

}  // namespace

void ClientQueue::join(JobState& job) {
  shares_.add_job(job.spec.client, job.spec.share);
  Client& client = clients_[job.spec.client];
  client.jobs[job.rank.sequence] = &job;
  job.rank.place += client.penalty;
  if (client.jobs.size() == 1) stale_ = true;
}

void ClientQueue::leave(JobState& job) {
  shares_.remove_job(job.spec.client);
  const auto client = clients_.find(job.spec.client);
  client->second.jobs.erase(job.rank.sequence);
  if (!client->second.jobs.empty()) return;
  clients_.erase(client);
  stale_ = true;
}

void ClientQueue::set_weight(const PublicKey& client, double weight) {
  shares_.set_weight(client, weight);
  const auto found = clients_.find(client);
  if (found == clients_.end()) return;
  for (auto& [sequence, job] : found->second.jobs) job->spec.share = weight;
  stale_ = true;
}

void ClientQueue::set_penalty(Client& client, std::int64_t penalty, const Rerank& rerank) {
  for (auto& [sequence, job] : client.jobs) rerank(*job, penalty - client.penalty);
  client.penalty = penalty;
}

void ClientQueue::charge(const PublicKey& client, double reference_seconds, Instant now,
                         const Rerank& rerank) {
  if (reference_seconds == 0) return;
  shares_.charge(client, reference_seconds, now);
  // If clients came or went, refresh() recomputes all delays before the next lease. A client that
  // is alone has no delay.
  if (stale_ || clients_.size() < 2) return;
  Client& charged = clients_.at(client);
  const std::int64_t penalty = penalty_of(shares_.lead(client, now));
  // Only a larger penalty is set at once; refresh() sets a smaller one later.
  if (penalty > charged.penalty) set_penalty(charged, penalty, rerank);
}

void ClientQueue::refresh(std::size_t workers, const std::function<double()>& capacity, Instant now,
                          const Rerank& rerank) {
  const bool due = !looked_at_ || now >= *looked_at_ + refresh_every;
  if (!stale_ && !due) return;
  stale_ = false;
  // The capacity is a sum over all workers, of which there may be thousands. It is not summed again
  // each time a client comes or goes.
  if (due || workers_then_ != workers) {
    looked_at_ = now;
    workers_then_ = workers;
    shares_.set_capacity(capacity());
  }
  shares_.forget(now);
  for (auto& [key, client] : clients_) {
    const std::int64_t penalty = penalty_of(shares_.lead(key, now));
    if (penalty != client.penalty) set_penalty(client, penalty, rerank);
  }
}

std::vector<PublicKey> ClientQueue::keys() const {
  std::vector<PublicKey> keys;
  for (const auto& [key, client] : clients_) keys.push_back(key);
  return keys;
}

std::size_t ClientQueue::jobs_of(const PublicKey& client) const {
  const auto found = clients_.find(client);
  return found == clients_.end() ? 0 : found->second.jobs.size();
}

}  // namespace weft::scheduler
