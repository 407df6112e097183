// The reputation of wallets. It grows with results that other workers have confirmed and fades with
// time; one wrong result ends it.
//
//   verified(t)  = verified(t0) * 2^-((t - t0) / half_life)    evidence fades
//   confirm(w):    verified += w / 2^wrong                     slower after each conviction
//   convict():     verified = 0, wrong += 1, suspended for suspension * 2^(wrong - 1);
//                  during a suspension: verified = 0, nothing else
//   reputation   = verified / (verified + half), in [0, 1)
//
// After v passed checks and no failed one, the expected probability that the next result is wrong
// is 1 / (v + 2) (Laplace's rule of succession). With half = 10, reputation falls short of 1 by
// about ten times this probability. A wallet is *established* from `probation` on; before, none of
// its results is accepted on its word alone. (BOINC, too, asks for ten valid results in a row:
// AdaptiveReplication.)
//
// Pure. Memory: one record for each wallet that ever did something.
#pragma once

#include <cstdint>
#include <set>
#include <unordered_map>
#include <vector>

#include "common/base/clock.h"
#include "common/base/ids.h"

namespace weft::trust {

struct ReputationSettings {
  double half = 10;
  double probation = 10;
  UnixMillis half_life = 30LL * 24 * 3600 * 1000;
  UnixMillis suspension = 30LL * 24 * 3600 * 1000;
  std::uint32_t doublings_max = 10;
};

struct Record {
  double verified = 0;  // The evidence at the time `updated`.
  UnixMillis updated = 0;
  std::uint32_t wrong = 0;  // The number of suspensions so far.
  // The time until which the wallet runs no task alone, however much is confirmed.
  UnixMillis suspended_until = 0;
  friend bool operator==(const Record&, const Record&) = default;
};

class ReputationBook {
 public:
  explicit ReputationBook(ReputationSettings settings = {}) : settings_(settings) {}

  // Adds a confirmation with a weight in (0, 1].
  void confirm(const PublicKey& worker, double weight, UnixMillis now);
  // Call it when the worker was outvoted in a vote that proves little: its record starts again, but
  // it is not suspended.
  void doubt(const PublicKey& worker, UnixMillis now);
  void convict(const PublicKey& worker, UnixMillis now);
  // Ends the worker's suspension and takes its conviction back; the verified evidence stays lost.
  // Returns false if the worker is not suspended.
  bool pardon(const PublicKey& worker, UnixMillis now);

  [[nodiscard]] double verified(const PublicKey& worker, UnixMillis now) const;
  [[nodiscard]] double reputation(const PublicKey& worker, UnixMillis now) const;
  [[nodiscard]] bool established(const PublicKey& worker, UnixMillis now) const;
  [[nodiscard]] bool suspended(const PublicKey& worker, UnixMillis now) const;

  [[nodiscard]] Record record(const PublicKey& worker) const;
  void restore(const PublicKey& worker, const Record& record);
  // Returns the workers whose records are worth storing, in the order of their keys. These are
  // records that lost evidence, and records that grew by a tenth and one confirmation since they
  // were last taken or restored. A crash costs a wallet no more evidence than this growth.
  [[nodiscard]] std::vector<PublicKey> take_moved();

  // Returns the evidence that gives a reputation in [0, 1).
  [[nodiscard]] double verified_at(double reputation) const {
    return settings_.half * reputation / (1 - reputation);
  }

 private:
  Record& fade(const PublicKey& worker, UnixMillis now);

  const ReputationSettings settings_;
  std::unordered_map<PublicKey, Record> records_;  // The order varies: never iterated.
  // The evidence when it was last taken. Never iterated, because the order of an unordered map may
  // vary.
  std::unordered_map<PublicKey, double> taken_;
  std::set<PublicKey> moved_;
};

}  // namespace weft::trust
