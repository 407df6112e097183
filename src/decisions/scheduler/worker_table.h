// The connected workers, by key and by order of arrival, and the networks from which the newcomers
// among them come. A worker's address stays valid until the worker is erased.
//
// Pure. Not safe to share between threads. Memory: an entry for each worker. A const table still
// gives access to mutable workers: only the set of workers is const.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>

#include "common/base/ids.h"
#include "decisions/scheduler/prefixes.h"
#include "decisions/scheduler/worker_state.h"

namespace weft::scheduler {

using WorkersInOrder = std::map<std::uint64_t, WorkerState*>;  // Workers by WorkerState::sequence.

class WorkerTable {
 public:
  // Adds a worker whose key is not in the table yet, and numbers it.
  WorkerState& add(std::unique_ptr<WorkerState> worker);
  void erase(const WorkerState& worker);

  [[nodiscard]] bool contains(const PublicKey& key) const { return workers_.contains(key); }
  // Returns null if the worker is not connected.
  [[nodiscard]] WorkerState* find(const PublicKey& key) const;
  // Returns a worker that must be connected.
  [[nodiscard]] WorkerState& at(const PublicKey& key) const { return *workers_.at(key); }
  [[nodiscard]] WorkerState& at(std::uint64_t sequence) const { return *in_order_.at(sequence); }
  [[nodiscard]] const WorkersInOrder& in_order() const { return in_order_; }
  [[nodiscard]] std::size_t size() const { return workers_.size(); }

  // Counts one newcomer of the prefix more (1) or less (-1) that takes tasks.
  void count_newcomer(const std::string& prefix, int change) { prefixes_.add(prefix, change); }
  // The number of different prefixes of newcomers that take tasks.
  [[nodiscard]] std::size_t newcomer_prefixes() const { return prefixes_.prefixes(); }

 private:
  // The map is looked up but never iterated, because its order varies.
  std::unordered_map<PublicKey, std::unique_ptr<WorkerState>> workers_;
  WorkersInOrder in_order_;
  std::uint64_t next_sequence_ = 1;
  PrefixCounts prefixes_;
};

inline WorkerState* WorkerTable::find(const PublicKey& key) const {
  const auto found = workers_.find(key);
  return found == workers_.end() ? nullptr : found->second.get();
}

}  // namespace weft::scheduler
