// Accounts for the bytes of the blob store: those that are used, and those that are reserved for
// the data that running jobs will store. Bytes without a job are taken only from the free room,
// which is neither used nor reserved, so that uploads never take the room of a job's results and
// their join.
//
// Strangers are workers that are neither invited nor established. Strangers of one network may use
// only a share of a job's room for results. The share counts their results that are not accepted:
// wrong results stay as long as rows name them, and so they leave room for the right results of
// others. Strangers also have shares of the free room, within an hour.
//
// Threading: any thread. Invariant: a job's bytes are reserved until the job takes them, or until
// end(). Memory: for a running job an entry for each stranger that stored a result, and at most
// `networks_max` buckets.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>

#include "common/base/clock.h"
#include "common/base/guarded.h"
#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/base/token_bucket.h"

namespace weft::store {

class Room {
 public:
  // The purpose for which a job stores bytes. Purposes have separate room: wrong results of the
  // job's workers cannot take the room of the join, and results of strangers cannot take that of
  // known workers. Known workers (`of_known`) use the room of `results` first. `states` are those
  // that checks of steps ask for; they go when their check ends. `other` (checkpoints, results of
  // checks) uses free room only.
  enum class Part : std::uint8_t { results, of_known, join, states, other };
  struct Needs {
    std::uint64_t results = 0;
    std::uint64_t of_known = 0;
    std::uint64_t join = 0;
    std::uint64_t states = 0;
    [[nodiscard]] std::uint64_t total() const { return results + of_known + join + states; }
  };
  static constexpr std::uint64_t unbounded = ~std::uint64_t{0};
  struct Stranger {
    PublicKey worker;
    std::string network;  // net::address_prefix(); empty for loopback and private networks.
  };
  struct For {
    JobId job;
    Part part = Part::results;
    std::optional<Stranger> stranger = {};  // nullopt: no stranger.
  };
  // Bytes that were taken. `from_job` are those of them that were reserved for the job.
  struct Taken {
    std::uint64_t bytes = 0;
    Needs from_job;
    void add(const Taken& more);
  };
  // The free room that strangers may take within an hour, as shares of the whole store: strangers
  // of one network, and all strangers together. 1 turns a bound off.
  struct Shares {
    double network = 0.25;
    double strangers = 0.5;
  };
  static constexpr std::size_t networks_max = 4096;  // Further networks share one bucket.

  explicit Room(std::uint64_t bytes_max) : Room(bytes_max, Shares{}, [] { return now(); }) {}
  Room(std::uint64_t bytes_max, Shares shares, std::function<Instant()> clock)
      : bytes_max_(bytes_max), shares_(shares), clock_(std::move(clock)) {}

  // Reserves bytes for a job. Fails with unavailable if less is free now, resource_exhausted if the
  // whole store is smaller. `network_max` bounds the bytes of results that are not accepted that
  // strangers of one network may take of the job's room.
  [[nodiscard]] Result<> set_aside(const JobId& job, const Needs& needs,
                                   std::uint64_t network_max = unbounded);
  // Reserves the bytes of a running job again after a restart, however full the store is.
  void restore(const JobId& job, const Needs& needs, std::uint64_t network_max = unbounded);
  // Frees the bytes that the job has not taken. A job without a reservation is no error.
  void end(const JobId& job);

  // Takes bytes, first from the job's reservation and then from the free room. Fails with
  // resource_exhausted if too little is left.
  [[nodiscard]] Result<Taken> take(std::uint64_t bytes, const std::optional<For>& wanted = {});
  // Returns bytes that were not needed. Bytes of a job's reservation return to it if the job still
  // runs.
  void give_back(const Taken& taken, const std::optional<For>& wanted = {});
  // Bytes of the worker's results were accepted and no longer count for the share of its network.
  void accepted(const JobId& job, const PublicKey& worker, std::uint64_t bytes);
  // Bytes of the job's states were removed: they are reserved for its next states, up to the room
  // that the job had for them at first. Comes after remove_used().
  void states_removed(const JobId& job, std::uint64_t bytes);
  // Adds bytes that are already stored, or subtracts removed bytes.
  void add_used(std::uint64_t bytes);
  void remove_used(std::uint64_t bytes);

  [[nodiscard]] std::uint64_t used() const;
  [[nodiscard]] std::uint64_t aside() const;

 private:
  // Bytes that a stranger took of its job's room and that are not accepted.
  struct Unaccepted {
    std::string network;
    std::uint64_t bytes = 0;
  };
  struct Job {
    Needs left;
    std::uint64_t network_max = unbounded;
    std::uint64_t states_max = left.states;
    std::unordered_map<PublicKey, Unaccepted> by_worker;
    std::unordered_map<std::string, std::uint64_t> by_network;  // Sums of `by_worker`.

    // The network of a stranger. A worker that returns from another network counts for its first
    // one.
    [[nodiscard]] const std::string& network_of(const Stranger& stranger) const;
    void count(const Stranger& stranger, std::uint64_t bytes);
    void uncount(const PublicKey& worker, std::uint64_t bytes);
  };
  struct State {
    std::uint64_t used = 0;
    std::uint64_t aside = 0;  // Sum of Job::left over all jobs.
    std::unordered_map<JobId, Job> jobs;
    TokenBucket strangers;
    std::unordered_map<std::string, TokenBucket> networks;

    // The part of `bytes` that the job's reservation covers for this purpose.
    [[nodiscard]] Needs left_for(std::uint64_t bytes, const std::optional<For>& wanted) const;
    [[nodiscard]] std::uint64_t free(std::uint64_t bytes_max) const;
  };
  // rate_of() gives the rate of a bucket that holds this share of the store. take_free() takes
  // bytes from the buckets of strangers and returns false if they hold too little.
  [[nodiscard]] TokenBucket::Rate rate_of(double share) const;
  [[nodiscard]] bool take_free(State& state, const std::string& network, std::uint64_t bytes);

  const std::uint64_t bytes_max_;
  const Shares shares_;
  const std::function<Instant()> clock_;
  Guarded<State> state_;
};

}  // namespace weft::store
