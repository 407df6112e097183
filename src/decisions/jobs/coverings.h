// Which of a worker's receipts covers an attempt, from the receipt until the result counts.
//
// Bounds: attempts_max, and bytes_max of what was signed; whatever has waited longest goes first,
// and the code that counts results by receipts must forget it too. Any worker can send receipts,
// with 4096 items each, for what it was never leased.
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

// A receipt, stored when the first of its results counts.
struct Covering {
  store::Receipt receipt;
  // Kept as blobs, by the names digest and claims of the receipt. Until they are stored.
  ByteVector statement;
  ByteVector claims;
  bool stored = false;
};

class Coverings {
 public:
  using Attempt = std::pair<TaskId, std::uint32_t>;
  static constexpr std::size_t attempts_max = trust::EarlyClaims::waiting_max;
  static constexpr std::size_t bytes_max = std::size_t{4} << 20;

  // A later receipt takes the place of an earlier one. What is not covered any more for lack of
  // room.
  [[nodiscard]] std::vector<Attempt> add(Covering covering, std::span<const Attempt> attempts);
  // Null where none covers it, or it was taken.
  [[nodiscard]] std::shared_ptr<Covering> take(const Attempt& attempt);

  [[nodiscard]] std::size_t attempts() const { return rows_.size(); }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  struct Kept {
    std::shared_ptr<Covering> covering;
    std::size_t bytes = 0;     // Length of what is kept, when it came.
    std::size_t attempts = 0;  // That it covers still.
  };
  struct Row {
    std::shared_ptr<Kept> kept;
    std::list<Attempt>::iterator place;
  };
  void let_go(std::map<Attempt, Row>::iterator row);

  std::map<Attempt, Row> rows_;
  std::list<Attempt>
      order_;  // Oldest first. (An empty deque takes 576 bytes, of each idle worker.)
  std::size_t bytes_ = 0;
};

}  // namespace weft::jobs
