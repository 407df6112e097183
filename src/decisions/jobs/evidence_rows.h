// Decides which contradictions are stored as evidence. The store keeps the latest evidence_max
// rows, and the first evidence_of_worker_max rows of a device (records.h). Wallets are free, and a
// device of an owner that has nothing to lose may contradict itself as often as it likes. Therefore
// such owners share a small number of rows a day, so that they need most of a year to push out one
// row of an owner with a stake. An owner with a stake always finds a row.
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
  // The smallest stake of an owner that has something to lose.
  static constexpr MicroCredits stake_min = 1'000'000;
  // The rows in a day of all owners together that have less than stake_min and no standing.
  static constexpr std::size_t of_others_max = 256;
  static constexpr UnixMillis day = 24LL * 3600 * 1000;
  // The rows of one owner, which may have many devices: one row is enough to take all of its stake.
  static constexpr std::uint32_t of_owner_max = 2 * store::evidence_of_worker_max;
  static constexpr std::size_t owners_max = 65536;

  // Takes one of the day's rows for a device of this owner. Returns false if no row is left.
  [[nodiscard]] bool take(const OwnerId& owner, bool has_something_to_lose, UnixMillis now);

 private:
  std::unordered_map<OwnerId, std::uint32_t> taken_;  // Owners are looked up, never iterated.
  UnixMillis day_began_ = 0;
  std::size_t of_others_ = 0;  // Rows that were taken since day_began_.
};

}  // namespace weft::jobs
