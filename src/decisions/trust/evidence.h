// Which confirmations and mismatches count, and from whom. Standing must be expensive to make: a
// client that runs its own jobs on its own workers earns them a tenth of what they need, and a
// shader that is wrong on one vendor's devices convicts none of them.
//
// Pure. Memory: a record for each wallet with evidence, of at most clients_max clients.
#pragma once

#include <map>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/base/clock.h"
#include "common/base/ids.h"

namespace weft::trust {

class Evidence {
 public:
  // How much of `weight` from this client counts for a worker that has `verified` already, where a
  // client may make up `share_max` of it, and at least client_floor. What was given fades with
  // `half_life`.
  [[nodiscard]] double admit(const PublicKey& worker, const PublicKey& client, double weight,
                             double verified, double share_max, UnixMillis half_life,
                             UnixMillis now);

  // What a client has given of a worker's evidence, at that time.
  struct Share {
    PublicKey client;
    double weight = 0;
    UnixMillis at = 0;
    bool forgotten = false;  // It is not kept any more.
    friend bool operator==(const Share&, const Share&) = default;
  };
  // Those of the worker that changed since the last call, by client.
  [[nodiscard]] std::vector<Share> take_changed(const PublicKey& worker);
  void restore(const PublicKey& worker, const Share& share);

  // What a worker got wrong in jobs of one client, as a trusted worker confirmed. It waits for a
  // mismatch in another client's job, for so long.
  static constexpr UnixMillis mismatch_lasts = UnixMillis{30} * 24 * 60 * 60 * 1000;
  struct Mismatch {
    PublicKey client;
    TaskId task;               // The latest,
    UnixMillis at = 0;         // when it was found,
    MicroCredits penalty = 0;  // and what the worker may lose for all of them.
    friend bool operator==(const Mismatch&, const Mismatch&) = default;
  };
  // One more. Says in jobs of how many clients there were some, and what they come to.
  struct Mismatches {
    std::size_t clients = 0;
    MicroCredits penalty = 0;
  };
  Mismatches mismatch(const PublicKey& worker, const Mismatch& found);
  void forget_mismatches(const PublicKey& worker);
  // Workers of which nothing is left, since it was too long ago.
  [[nodiscard]] std::vector<PublicKey> forget_old_mismatches(UnixMillis now);
  // Those that changed since the last call, by worker and client.
  struct ChangedMismatch {
    PublicKey worker;
    Mismatch row;
    bool forgotten = false;  // It is not kept any more.
  };
  [[nodiscard]] std::vector<ChangedMismatch> take_changed_mismatches();
  void restore(const PublicKey& worker, const Mismatch& mismatch);

  static constexpr std::size_t clients_max = 64;
  // A little more than a tenth of what makes a wallet established, so that ten clients keep it so.
  static constexpr double client_floor = 1.1;

 private:
  struct Given {
    double weight = 0;
    UnixMillis at = 0;
  };
  void forget_old(const PublicKey& worker, std::map<PublicKey, Mismatch>& rows, UnixMillis now);

  std::unordered_map<PublicKey, std::map<PublicKey, Given>> given_;  // Looked up only.
  std::unordered_map<PublicKey, std::set<PublicKey>> changed_;       // Looked up only.
  std::map<PublicKey, std::map<PublicKey, Mismatch>> mismatches_;
  std::set<std::pair<PublicKey, PublicKey>> changed_mismatches_;
};

}  // namespace weft::trust
