// Clients with jobs, and the delay that each client's jobs get in the queue: a client that had more
// than its share (fair_share.h) waits. The delays are recomputed when clients come or go, and every
// five seconds.
//
// Pure. The caller changes a job's rank, because the job is listed in several indexes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "common/base/clock.h"
#include "common/base/ids.h"
#include "decisions/scheduler/fair_share.h"

namespace weft::scheduler {

struct JobState;

class ClientQueue {
 public:
  // Adds `change` to the job's place in the queue (Rank::place).
  using Rerank = std::function<void(JobState& job, std::int64_t change)>;

  explicit ClientQueue(const FairShares::Settings& settings) : shares_(settings) {}

  // Adds the job to its client's jobs and gives it their delay. The job is in no index yet.
  void join(JobState& job);
  void leave(JobState& job);
  // Sets the client's weight, for its present jobs, from now on.
  void set_weight(const PublicKey& client, double weight);
  // Charges work that was done for the client; a negative number takes a charge back. Jobs only
  // move further back, because this may be called during a pass over the queue.
  void charge(const PublicKey& client, double reference_seconds, Instant now, const Rerank& rerank);
  // Recomputes the clients' delays if they are due or clients came or went. Calls `capacity` only
  // if the delays are due or the number of workers has changed.
  void refresh(std::size_t workers, const std::function<double()>& capacity, Instant now,
               const Rerank& rerank);

  [[nodiscard]] std::vector<PublicKey> keys() const;
  [[nodiscard]] std::size_t jobs_of(const PublicKey& client) const;
  [[nodiscard]] const FairShares& shares() const { return shares_; }

 private:
  struct Client {
    std::map<std::uint64_t, JobState*> jobs;  // Jobs of the client by Rank::sequence.
    std::int64_t penalty = 0;                 // The client's delay, in the unit of Rank::place.
  };
  static void set_penalty(Client& client, std::int64_t penalty, const Rerank& rerank);

  FairShares shares_;
  std::map<PublicKey, Client> clients_;
  std::optional<Instant> looked_at_;  // The time of the last sum of the capacity.
  std::size_t workers_then_ = 0;
  bool stale_ = false;  // True if clients came or went since refresh().
};

}  // namespace weft::scheduler
