// How far a wallet is believed. It grows with results that others have confirmed, fades with time,
// and one wrong result ends it.
//
//   verified(t)  = verified(t0) * 2^-((t - t0) / half_life)         evidence fades
//   confirm(w):    verified += w / 2^wrong                          slower after each conviction
//   convict():     verified = 0, wrong += 1, suspended for suspension * 2^(wrong - 1); while it is
//   suspended nothing more reputation   = verified / (verified + half), in [0, 1)
//
// With v passed checks and none failed the expected chance that the next result is wrong is 1 / (v
// + 2) (Laplace's rule of succession); half = 10 makes reputation fall short of 1 by about ten
// times that, which is how much it takes to be believed. A wallet is *established* from `probation`
// on: before, nothing that it hands in is accepted on its word alone. (BOINC asks for ten valid
// results in a row too: AdaptiveReplication.)
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
  double verified = 0;  // At `updated`.
  UnixMillis updated = 0;
  std::uint32_t wrong = 0;  // Suspensions ever.
  UnixMillis suspended_until =
      0;  // Until then it is given nothing to do alone, however much is confirmed.
  friend bool operator==(const Record&, const Record&) = default;
};

class ReputationBook {
 public:
  explicit ReputationBook(ReputationSettings settings = {}) : settings_(settings) {}

  // `weight` in (0, 1]: how much the confirmation is worth.
  void confirm(const PublicKey& worker, double weight, UnixMillis now);
  // Outvoted where that proves little: its record starts again, but it is not suspended.
  void doubt(const PublicKey& worker, UnixMillis now);
  void convict(const PublicKey& worker, UnixMillis now);
  // Ends a suspension, and counts its conviction no more; what was verified stays lost. False for a
  // worker that is not suspended.
  bool pardon(const PublicKey& worker, UnixMillis now);

  [[nodiscard]] double verified(const PublicKey& worker, UnixMillis now) const;
  [[nodiscard]] double reputation(const PublicKey& worker, UnixMillis now) const;
  [[nodiscard]] bool established(const PublicKey& worker, UnixMillis now) const;
  [[nodiscard]] bool suspended(const PublicKey& worker, UnixMillis now) const;

  [[nodiscard]] Record record(const PublicKey& worker) const;
  void restore(const PublicKey& worker, const Record& record);
  // Whose records have moved enough since they were last taken or restored to be worth storing, in
  // the order of their keys: by a tenth and one confirmation, or by a loss. A crash costs a wallet
  // no more than that.
  [[nodiscard]] std::vector<PublicKey> take_moved();

  // Evidence that gives a reputation in [0, 1).
  [[nodiscard]] double verified_at(double reputation) const {
    return settings_.half * reputation / (1 - reputation);
  }

 private:
  Record& fade(const PublicKey& worker, UnixMillis now);

  const ReputationSettings settings_;
  std::unordered_map<PublicKey, Record> records_;  // Looked up only.
  std::unordered_map<PublicKey, double> taken_;    // Evidence as it was then; looked up only.
  std::set<PublicKey> moved_;
};

}  // namespace weft::trust
