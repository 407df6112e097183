// The stakes that owners have on the chain in its final state. An outside command (`weft chain
// stakes`) reports them in readings. A reading is complete: an owner that it does not name has no
// stake on the chain. A reading is of one slot, so that no stake is counted twice. A reading counts
// for a limited time: if no newer one arrives, because a node or the command is down, all chain
// stakes count as 0. While the stakes count, a reading of an earlier slot changes nothing, and a
// reading of the same slot does not extend their time, so that a node that lags or stands still
// keeps no stake alive. Once the stakes count as 0, a reading of an earlier slot is accepted if its
// slot is higher than that of the last reading that was refused, so that a node that once named a
// slot far in the future does not lock out all later readings.
//
// The amounts exclude the stake that is unbonding. The coordinator cannot slash them: the on-chain
// program takes a stake only for two results of one (task, attempt), and for nothing that the
// coordinator says. Decision 31 names the rules that may therefore count on a chain stake.
//
// Pure. Threading: one thread. Memory: a row for each owner of a reading, at most rows_max.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>

#include "common/base/clock.h"
#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/records/account.h"

namespace weft::jobs {

struct ChainStake {
  OwnerId owner;
  MicroCredits amount = 0;  // The stake without its unbonding part.
};

class ChainStakes {
 public:
  static constexpr std::size_t rows_max = 10'000;
  static constexpr Duration counts_for = std::chrono::minutes(10);

  // Takes a complete reading of the final state at `slot`. Fails with invalid_argument for an owner
  // that occurs twice, a negative or impossible amount or sum, or too many rows, and with
  // already_exists for a slot before that of the last reading. No stake changes if it fails.
  [[nodiscard]] Result<> seen(std::uint64_t slot, std::span<const ChainStake> stakes, Instant now);

  // The owner's stake on the chain; 0 if none is known or the last reading is too old.
  [[nodiscard]] MicroCredits of(const OwnerId& owner, Instant now) const;
  [[nodiscard]] std::uint64_t slot() const { return slot_; }

 private:
  [[nodiscard]] bool counts(Instant now) const { return now - seen_at_ <= counts_for; }
  std::unordered_map<OwnerId, MicroCredits> amounts_;  // Owners are looked up, never iterated.
  std::uint64_t slot_ = 0;
  std::uint64_t behind_ = 0;  // The slot of the newest reading that was refused as earlier.
  Instant seen_at_{};
};

}  // namespace weft::jobs
