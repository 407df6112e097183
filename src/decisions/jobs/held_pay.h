// Pay of newcomers that is not theirs yet: held until it is clear that no root finds them out, and
// lost if one does. It is kept by worker and minute, not by task.
//
// Pure. Memory: an entry for each worker with pay and each minute in which some of it becomes free.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "common/base/clock.h"
#include "common/base/ids.h"
#include "common/records/funds.h"
#include "common/records/transaction.h"

namespace weft::jobs {

class HeldPays {
 public:
  struct Entry {
    PublicKey worker;  // Zeros: one of the owner's, before a restart.
    OwnerId owner;
    ledger::Funds funds;
  };

  // It becomes free at `free_at` or up to a minute later.
  void add(const Entry& entry, Instant free_at);
  // What is free by now, and forgotten here.
  [[nodiscard]] std::vector<Entry> take_free(Instant now);
  // What is held for the worker, and forgotten here; also what was held for its owner before a
  // restart (Entry::worker is zeros then).
  [[nodiscard]] std::vector<Entry> take_of(const PublicKey& worker, const OwnerId& owner);
  [[nodiscard]] std::optional<Instant> next() const;

 private:
  std::map<std::pair<Instant, PublicKey>, Entry> entries_;
};

}  // namespace weft::jobs
