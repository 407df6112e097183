// The connected workers, by their keys and in the order in which they came, and the networks from
// which the newcomers among them come. A worker's address stays the same until it is erased.
//
// Pure. Not safe to share between threads. Memory: an entry for each worker. A table that is const
// still gives workers that may be changed: what it keeps is which workers there are.
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

using WorkersInOrder = std::map<std::uint64_t, WorkerState*>;  // By WorkerState::sequence.

class WorkerTable {
 public:
  // Numbers the worker. Its key is not in the table yet.
  WorkerState& add(std::unique_ptr<WorkerState> worker);
  void erase(const WorkerState& worker);

  [[nodiscard]] bool contains(const PublicKey& key) const { return workers_.contains(key); }
  // Null for a worker that is not connected.
  [[nodiscard]] WorkerState* find(const PublicKey& key) const;
  // The worker is connected.
  [[nodiscard]] WorkerState& at(const PublicKey& key) const { return *workers_.at(key); }
  [[nodiscard]] WorkerState& at(std::uint64_t sequence) const { return *in_order_.at(sequence); }
  [[nodiscard]] const WorkersInOrder& in_order() const { return in_order_; }
  [[nodiscard]] std::size_t size() const { return workers_.size(); }

  // One newcomer of the prefix more, or less, takes tasks.
  void count_newcomer(const std::string& prefix, int change) { prefixes_.add(prefix, change); }
  // Different prefixes of newcomers that take tasks.
  [[nodiscard]] std::size_t newcomer_prefixes() const { return prefixes_.prefixes(); }

 private:
  std::unordered_map<PublicKey, std::unique_ptr<WorkerState>> workers_;  // Looked up only.
  WorkersInOrder in_order_;
  std::uint64_t next_sequence_ = 1;
  PrefixCounts prefixes_;
};

inline WorkerState* WorkerTable::find(const PublicKey& key) const {
  const auto found = workers_.find(key);
  return found == workers_.end() ? nullptr : found->second.get();
}

}  // namespace weft::scheduler
