// What owners have staked on the chain, as its final state says: fed from outside, reading by
// reading (`weft chain stakes`). A reading is whole, so that an owner that it does not name has no
// stake there, and it is of one slot, so that no stake is seen twice. It counts for a while only:
// where no newer one comes, because a node or the command is down, chain stakes count as none. A
// reading of an earlier slot changes nothing while they count, and one of the same slot does not
// make it newer: a node that lags, or stands still, keeps no stake alive. Once they count as none,
// readings of earlier slots are taken again from the second one on that follows another: a node
// that once named a slot of the far future does not shut out all that come after it.
//
// What is here is the amount that is not unbonding. It is not the coordinator's to slash: the
// on-chain program takes a stake for two results of one (task, attempt), and for nothing that the
// coordinator says. See decision 31 for what may therefore count on it.
//
// Pure. Threading: one thread. Memory: a row for each owner of a reading, rows_max at most.
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
  MicroCredits amount = 0;  // Not unbonding.
};

class ChainStakes {
 public:
  static constexpr std::size_t rows_max = 10'000;
  static constexpr Duration counts_for = std::chrono::minutes(10);

  // A whole reading of the final state at `slot`. invalid_argument for an owner that comes twice,
  // a negative or impossible amount or sum, or too many rows; already_exists for an earlier slot
  // than that of the last one, see above. No stake changes then.
  [[nodiscard]] Result<> seen(std::uint64_t slot, std::span<const ChainStake> stakes, Instant now);

  // 0 if none is known, or the last reading is too old.
  [[nodiscard]] MicroCredits of(const OwnerId& owner, Instant now) const;
  [[nodiscard]] std::uint64_t slot() const { return slot_; }

 private:
  [[nodiscard]] bool counts(Instant now) const { return now - seen_at_ <= counts_for; }
  std::unordered_map<OwnerId, MicroCredits> amounts_;  // Looked up only.
  std::uint64_t slot_ = 0;
  std::uint64_t behind_ = 0;  // Slot of the newest reading, where that was refused as earlier.
  Instant seen_at_{};
};

}  // namespace weft::jobs
