// Decides which confirmations and mismatches count, by the clients that they come from. Standing
// must be expensive to make: a client that runs its own jobs on its own workers earns them a tenth
// of the evidence that they need, and a shader that is wrong on one vendor's devices convicts no
// worker.
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
  // Returns the part of `weight` from this client that counts for a worker with `verified`
  // evidence. All evidence from one client is at most `share_max` of `verified`, or client_floor if
  // that is more. Earlier evidence from the client fades with `half_life`.
  [[nodiscard]] double admit(const PublicKey& worker, const PublicKey& client, double weight,
                             double verified, double share_max, UnixMillis half_life,
                             UnixMillis now);

  // The part of a worker's evidence that came from one client, as it was at the time `at`.
  struct Share {
    PublicKey client;
    double weight = 0;
    UnixMillis at = 0;
    bool forgotten = false;  // The share is no longer kept.
    friend bool operator==(const Share&, const Share&) = default;
  };
  // The worker's shares that changed since the last call, in the order of clients.
  [[nodiscard]] std::vector<Share> take_changed(const PublicKey& worker);
  void restore(const PublicKey& worker, const Share& share);

  // A mismatch in a job of one client waits up to 30 days for a mismatch in a job of another
  // client, which convicts the worker. A Mismatch stands for all of a worker's mismatches in jobs
  // of one client that a trusted worker confirmed.
  static constexpr UnixMillis mismatch_lasts = UnixMillis{30} * 24 * 60 * 60 * 1000;
  struct Mismatch {
    PublicKey client;
    TaskId task;               // The task of the latest mismatch.
    UnixMillis at = 0;         // The time of the latest mismatch.
    MicroCredits penalty = 0;  // The sum of the penalties of these mismatches.
    friend bool operator==(const Mismatch&, const Mismatch&) = default;
  };
  // A worker's mismatches after one more was added: the number of clients in whose jobs they
  // occurred, and the sum of their penalties.
  struct Mismatches {
    std::size_t clients = 0;
    MicroCredits penalty = 0;
  };
  Mismatches mismatch(const PublicKey& worker, const Mismatch& found);
  void forget_mismatches(const PublicKey& worker);
  // Forgets mismatches that are older than mismatch_lasts. Returns the workers that have none left.
  [[nodiscard]] std::vector<PublicKey> forget_old_mismatches(UnixMillis now);
  // A mismatch that changed since the last call. The list is in the order of workers and clients.
  struct ChangedMismatch {
    PublicKey worker;
    Mismatch row;
    bool forgotten = false;  // The mismatch is no longer kept.
  };
  [[nodiscard]] std::vector<ChangedMismatch> take_changed_mismatches();
  void restore(const PublicKey& worker, const Mismatch& mismatch);

  static constexpr std::size_t clients_max = 64;
  // A little more than a tenth of the evidence that makes a wallet established, so that ten clients
  // keep the wallet established.
  static constexpr double client_floor = 1.1;

 private:
  struct Given {
    double weight = 0;
    UnixMillis at = 0;
  };
  void forget_old(const PublicKey& worker, std::map<PublicKey, Mismatch>& rows, UnixMillis now);

  // Never iterated, because the order of an unordered map may vary.
  std::unordered_map<PublicKey, std::map<PublicKey, Given>> given_;
  // Never iterated, because the order of an unordered map may vary.
  std::unordered_map<PublicKey, std::set<PublicKey>> changed_;
  std::map<PublicKey, std::map<PublicKey, Mismatch>> mismatches_;
  std::set<std::pair<PublicKey, PublicKey>> changed_mismatches_;
};

}  // namespace weft::trust
