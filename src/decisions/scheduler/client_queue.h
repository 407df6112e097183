// Clients with jobs, and how much later than they came their jobs stand in the queue: a client that
// had more than its share (fair_share.h) waits. Leads are looked at again when clients come or go,
// and every five seconds.
//
// Pure. A job's rank is the caller's to change: it stands in several indexes.
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
  // Moves the job's place (Rank::place) by so much.
  using Rerank = std::function<void(JobState& job, std::int64_t change)>;

  explicit ClientQueue(const FairShares::Settings& settings) : shares_(settings) {}

  // Puts the job where its client's jobs stand. It is in no index yet.
  void join(JobState& job);
  void leave(JobState& job);
  // For the client's jobs, from now on.
  void set_weight(const PublicKey& client, double weight);
  // What was done for a client; negative: it was not done after all. Within a pass over the queue
  // jobs only ever move back.
  void charge(const PublicKey& client, double reference_seconds, Instant now, const Rerank& rerank);
  // `capacity` is asked only if leads are due or the number of workers is another one.
  void refresh(std::size_t workers, const std::function<double()>& capacity, Instant now,
               const Rerank& rerank);

  [[nodiscard]] std::vector<PublicKey> keys() const;
  [[nodiscard]] std::size_t jobs_of(const PublicKey& client) const;
  [[nodiscard]] const FairShares& shares() const { return shares_; }

 private:
  struct Client {
    std::map<std::uint64_t, JobState*> jobs;  // By Rank::sequence.
    std::int64_t penalty = 0;                 // As in Rank::place.
  };
  static void set_penalty(Client& client, std::int64_t penalty, const Rerank& rerank);

  FairShares shares_;
  std::map<PublicKey, Client> clients_;
  std::optional<Instant> looked_at_;  // When all leads were looked at.
  std::size_t workers_then_ = 0;
  bool stale_ = false;  // Clients came or went since.
};

}  // namespace weft::scheduler
