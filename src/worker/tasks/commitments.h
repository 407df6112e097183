// What results without a verdict committed to: the leaves of each output, by which chunks of them
// are opened for an audit.
//
// Not safe to share between threads. Bound: results_max results; what is over is not kept, and its
// chunks cannot be opened.
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
  using Leaves = std::vector<std::vector<Hash>>;  // An output each.

  explicit Commitments(std::size_t results_max) : results_max_(results_max) {}

  void add(const TaskKey& key, Leaves leaves);
  void erase(const TaskKey& key) { leaves_.erase(key); }
  void clear() { leaves_.clear(); }
  // A chunk that does not exist has an empty path; so has each of a result that is not kept.
  [[nodiscard]] protocol::Opening open(const protocol::OpenChunks& asked) const;

 private:
  std::size_t results_max_;
  std::map<TaskKey, Leaves> leaves_;
};

}  // namespace weft::worker
