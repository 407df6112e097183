// Proofs of leases, which the worker shows after a reconnect.
//
// Not safe to share between threads. Memory: an entry for each lease; the proofs of finished tasks
// are dropped once there are many.
#pragma once

#include <cstddef>
#include <map>

#include "common/base/ids.h"
#include "worker/tasks/events.h"

namespace weft::worker {

class LeaseProofs {
 public:
  void put(const TaskKey& key, const Hash& proof) { proofs_.insert_or_assign(key, proof); }
  // The proof of the lease; zeros if the lease is not known.
  [[nodiscard]] Hash of(const TaskKey& key) const {
    const auto proof = proofs_.find(key);
    return proof == proofs_.end() ? Hash{} : proof->second;
  }
  // Drops the proofs for which is_wanted() is false. `wanted` is the number of wanted proofs. The
  // function does nothing until there are many proofs, because it visits all of them.
  template <class IsWanted>
  void forget(std::size_t wanted, IsWanted is_wanted) {
    constexpr std::size_t few = 64;
    if (proofs_.size() <= few + 2 * wanted) return;
    std::erase_if(proofs_, [&](const auto& each) { return !is_wanted(each.first); });
  }
  [[nodiscard]] std::size_t size() const { return proofs_.size(); }

 private:
  std::map<TaskKey, Hash> proofs_;
};

}  // namespace weft::worker
