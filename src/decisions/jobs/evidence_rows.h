// Which contradictions are worth one of the rows that the store keeps for them: it keeps the latest
// evidence_max, and the first evidence_of_worker_max of a device (records.h). Wallets are free, and
// a device of an owner that has nothing to lose may contradict itself as often as it likes: such
// owners have few rows a day together, so that they need most of a year to push out one row of an
// owner with a stake, and an owner with a stake always finds a row.
//
// Pure. Bounds: owners_max owners are counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "common/base/clock.h"
#include "common/base/ids.h"
#include "common/records/account.h"
#include "common/records/records.h"

namespace weft::jobs {

class EvidenceRows {
 public:
  // From here on an owner has something to lose.
  static constexpr MicroCredits stake_min = 1'000'000;
  // Rows in a day of all owners with less, and no standing.
  static constexpr std::size_t of_others_max = 256;
  static constexpr UnixMillis day = 24LL * 3600 * 1000;
  // Rows of one owner, whose devices are many: one takes all of a stake.
  static constexpr std::uint32_t of_owner_max = 2 * store::evidence_of_worker_max;
  static constexpr std::size_t owners_max = 65536;

  // Whether there is one for a device of this owner; it is taken.
  [[nodiscard]] bool take(const OwnerId& owner, bool has_something_to_lose, UnixMillis now);

 private:
  std::unordered_map<OwnerId, std::uint32_t> taken_;  // Looked up only.
  UnixMillis day_began_ = 0;
  std::size_t of_others_ = 0;  // Since then.
};

}  // namespace weft::jobs
