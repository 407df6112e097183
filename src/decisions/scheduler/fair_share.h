// Fair shares between clients. Each client has a right to weight / (all weights of clients with
// jobs) of the network's work. A client that has had more than this share is *ahead*. Its lead is
// measured in seconds of the whole network's time:
//
//   lead = usage / capacity * (all weights / weight)
//
// Usage is in reference seconds, capacity in reference seconds a second.
//
// The client's jobs are placed in the queue as if they had been submitted later by the lead
// (score.h: 0.1 of a score a minute). So two clients with jobs of one kind get work in proportion
// to their weights, whatever the order of submission. Usage decays by half in every half_life. The
// lead is at most lead_max, which bounds how long fairness alone keeps a job waiting after jobs of
// newer clients. A client that is alone has no lead.
//
// Pure. Memory: one entry for each client that has jobs or whose usage has not decayed yet.
#pragma once

#include <cstdint>
#include <map>

#include "common/base/clock.h"
#include "common/base/ids.h"

namespace weft::scheduler {

class FairShares {
 public:
  struct Settings {
    Duration half_life = std::chrono::hours(1);
    Duration lead_max = std::chrono::hours(4);
    Duration step =
        std::chrono::seconds(1);  // Leads are multiples of this: smaller changes move no job.
  };

  FairShares() : FairShares(Settings{}) {}
  explicit FairShares(Settings settings) : settings_(settings) {}

  // Call add_job() when a job of the client came, and remove_job() when it ended. The client's
  // weight is that of its latest job, and at least 1/1000.
  void add_job(const PublicKey& client, double weight);
  void remove_job(const PublicKey& client);
  // Sets the client's weight from now on. Does nothing for an unknown client.
  void set_weight(const PublicKey& client, double weight);
  // Adds work that was done for the client, in reference seconds. A negative number takes a charge
  // back.
  void charge(const PublicKey& client, double reference_seconds, Instant now);
  // Sets the capacity of all workers together, in reference seconds a second.
  void set_capacity(double capacity) { capacity_ = capacity; }

  [[nodiscard]] Duration lead(const PublicKey& client, Instant now) const;
  [[nodiscard]] double usage(const PublicKey& client, Instant now) const;
  [[nodiscard]] std::size_t clients_with_jobs() const { return active_; }

  // Drops clients without jobs whose usage is less than a second.
  void forget(Instant now);

 private:
  struct Client {
    double weight = 1;
    double usage = 0;  // Usage at the time `since`.
    Instant since{};
    std::size_t jobs = 0;
  };
  [[nodiscard]] static double bounded(double weight);
  [[nodiscard]] double decayed(const Client& client, Instant now) const;

  Settings settings_;
  std::map<PublicKey, Client> clients_;
  double capacity_ = 0;
  double weights_ = 0;  // Sum of the weights of clients with jobs.
  std::size_t active_ = 0;
};

}  // namespace weft::scheduler
