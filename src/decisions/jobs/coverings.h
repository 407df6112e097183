// Finds the receipt of a worker that covers an attempt. A receipt is kept from its arrival until
// the result counts.
//
// Bounds: attempts_max attempts, and bytes_max bytes of signed text. Beyond that, the attempts that
// have waited longest are dropped, and the code that counts results by receipts must forget them
// too. The bounds are needed because any worker can send receipts, with 4096 items each, for tasks
// that it was never leased.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "common/records/records.h"
#include "decisions/trust/early_claims.h"

namespace weft::jobs {

// A receipt, stored when the first of the results that it covers counts.
struct Covering {
  store::Receipt receipt;
  // The signed text and the claims, until they are stored as blobs. The receipt's `digest` and
  // `claims` are the names of these blobs.
  ByteVector statement;
  ByteVector claims;
  bool stored = false;
};

class Coverings {
 public:
  using Attempt = std::pair<TaskId, std::uint32_t>;
  static constexpr std::size_t attempts_max = trust::EarlyClaims::waiting_max;
  static constexpr std::size_t bytes_max = std::size_t{4} << 20;

  // Adds a receipt. A later receipt for an attempt replaces an earlier one. Returns the attempts
  // that are no longer covered, for lack of room.
  [[nodiscard]] std::vector<Attempt> add(Covering covering, std::span<const Attempt> attempts);
  // Null if no receipt covers the attempt, or the receipt was taken already.
  [[nodiscard]] std::shared_ptr<Covering> take(const Attempt& attempt);

  [[nodiscard]] std::size_t attempts() const { return rows_.size(); }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  struct Kept {
    std::shared_ptr<Covering> covering;
    std::size_t bytes = 0;     // The size of statement and claims on arrival.
    std::size_t attempts = 0;  // The attempts that the receipt still covers.
  };
  struct Row {
    std::shared_ptr<Kept> kept;
    std::list<Attempt>::iterator place;
  };
  void let_go(std::map<Attempt, Row>::iterator row);

  std::map<Attempt, Row> rows_;
  std::list<Attempt>
      order_;  // Oldest first. (An empty deque takes 576 bytes for each idle worker.)
  std::size_t bytes_ = 0;
};

}  // namespace weft::jobs
