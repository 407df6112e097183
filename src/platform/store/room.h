// The room of the blob store: how many bytes are used, and how many are set aside for what running
// jobs will store. Bytes without a job are taken only from what is neither used nor set aside, so
// that uploads never take what a job needs for its results and their join.
//
// Strangers are workers that are neither invited nor established. Those of one network have a share
// of a job's room for results, which counts what of theirs is not accepted: their wrong results,
// which stay as long as rows name them, leave the right ones of others room. Of what is free they
// have shares, too, within an hour.
//
// Threading: any. Invariant: a job's bytes are set aside until it takes them, or end(). Memory: for
// a running job an entry for each stranger that stored a result, and `networks_max` buckets.
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
  // What a job stores. Its parts are apart: wrong results of its own workers take nothing of what
  // the join needs, and those of strangers nothing of what is kept for results of known workers,
  // which take `results` as long as there is some.
  // `other` (states of tasks, results of checks) has free room only.
  enum class Part : std::uint8_t { results, of_known, join, other };
  struct Needs {
    std::uint64_t results = 0;
    std::uint64_t of_known = 0;
    std::uint64_t join = 0;
    [[nodiscard]] std::uint64_t total() const { return results + of_known + join; }
  };
  static constexpr std::uint64_t unbounded = ~std::uint64_t{0};
  struct Stranger {
    PublicKey worker;
    std::string network;  // net::address_prefix(); empty: this machine and private networks.
  };
  struct For {
    JobId job;
    Part part = Part::results;
    std::optional<Stranger> stranger = {};  // Nothing: no bound of strangers counts.
  };
  // Bytes that were taken; `from_job`: so many of them were set aside.
  struct Taken {
    std::uint64_t bytes = 0;
    Needs from_job;
    void add(const Taken& more);
  };
  // What strangers take of free room within an hour, as shares of the whole store: those of one
  // network, and all together. 1 turns a bound off.
  struct Shares {
    double network = 0.25;
    double strangers = 0.5;
  };
  static constexpr std::size_t networks_max = 4096;  // Others share one bucket.

  explicit Room(std::uint64_t bytes_max) : Room(bytes_max, Shares{}, [] { return now(); }) {}
  Room(std::uint64_t bytes_max, Shares shares, std::function<Instant()> clock)
      : bytes_max_(bytes_max), shares_(shares), clock_(std::move(clock)) {}

  // unavailable if less is left now; resource_exhausted if the whole store has less.
  // `network_max`: so many bytes of its room for results strangers of one network take that are
  // not accepted.
  [[nodiscard]] Result<> set_aside(const JobId& job, const Needs& needs,
                                   std::uint64_t network_max = unbounded);
  // After a restart: what a running job was promised holds, however full the store is.
  void restore(const JobId& job, const Needs& needs, std::uint64_t network_max = unbounded);
  // What the job has not taken is free. A job without any is fine.
  void end(const JobId& job);

  // resource_exhausted if less is left. What a job wants beyond what is set aside for it comes
  // from what is free.
  [[nodiscard]] Result<Taken> take(std::uint64_t bytes, const std::optional<For>& wanted = {});
  // Was not needed: what came from a job goes back to it, if it still runs.
  void give_back(const Taken& taken, const std::optional<For>& wanted = {});
  // So many bytes of the worker's results were accepted: they count to its network no more.
  void accepted(const JobId& job, const PublicKey& worker, std::uint64_t bytes);
  // Bytes that are stored already, and bytes that are removed.
  void add_used(std::uint64_t bytes);
  void remove_used(std::uint64_t bytes);

  [[nodiscard]] std::uint64_t used() const;
  [[nodiscard]] std::uint64_t aside() const;

 private:
  // What a stranger took of its job's room and was not accepted.
  struct Unaccepted {
    std::string network;
    std::uint64_t bytes = 0;
  };
  struct Job {
    Needs left;
    std::uint64_t network_max = unbounded;
    std::unordered_map<PublicKey, Unaccepted> by_worker;
    std::unordered_map<std::string, std::uint64_t> by_network;  // Sums of `by_worker`.

    // A worker that comes back from another network counts to its first one.
    [[nodiscard]] const std::string& network_of(const Stranger& stranger) const;
    void count(const Stranger& stranger, std::uint64_t bytes);
    void uncount(const PublicKey& worker, std::uint64_t bytes);
  };
  struct State {
    std::uint64_t used = 0;
    std::uint64_t aside = 0;  // Sum of what is left of `jobs`.
    std::unordered_map<JobId, Job> jobs;
    TokenBucket strangers;
    std::unordered_map<std::string, TokenBucket> networks;

    // What of `bytes` the job has for this purpose.
    [[nodiscard]] Needs left_for(std::uint64_t bytes, const std::optional<For>& wanted) const;
    [[nodiscard]] std::uint64_t free(std::uint64_t bytes_max) const;
  };
  // The bucket of a share of the store, and whether it has so many bytes, which it then gives.
  [[nodiscard]] TokenBucket::Rate rate_of(double share) const;
  [[nodiscard]] bool take_free(State& state, const std::string& network, std::uint64_t bytes);

  const std::uint64_t bytes_max_;
  const Shares shares_;
  const std::function<Instant()> clock_;
  Guarded<State> state_;
};

}  // namespace weft::store
