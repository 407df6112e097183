// The commitments of results without a verdict: the Merkle leaves of each output, from which its
// chunks are opened for an audit.
//
// Not safe to share between threads. Bound: results_max results; further results are not kept, and
// their chunks cannot be opened.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "common/base/ids.h"
#include "common/protocol/messages.h"
#include "worker/tasks/events.h"

namespace weft::worker {

class Commitments {
 public:
  using Leaves = std::vector<std::vector<Hash>>;  // The leaves of each output's Merkle tree.

  explicit Commitments(std::size_t results_max) : results_max_(results_max) {}

  void add(const TaskKey& key, Leaves leaves);
  void erase(const TaskKey& key) { leaves_.erase(key); }
  void clear() { leaves_.clear(); }
  // Opens the chunks that an audit asks for. The path is empty for a chunk that does not exist, and
  // for each chunk of a result that is not kept.
  [[nodiscard]] protocol::Opening open(const protocol::OpenChunks& asked) const;

 private:
  std::size_t results_max_;
  std::map<TaskKey, Leaves> leaves_;
};

}  // namespace weft::worker
