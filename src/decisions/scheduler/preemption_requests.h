// The running replicas that were asked to stop at their next checkpoint, each with the urgent job
// that wants its place.
#pragma once

#include <cstddef>
#include <map>
#include <utility>

#include "common/base/ids.h"

namespace weft::scheduler {

class PreemptionRequests {
 public:
  void add(const TaskId& task, const PublicKey& worker, const JobId& urgent);
  // Forgets the request to a replica that no longer runs.
  void end(const TaskId& task, const PublicKey& worker);
  void end(const TaskId& task);
  // Drops the requests for an urgent job that has ended.
  void end_for(const JobId& urgent);
  [[nodiscard]] std::size_t count_for(const JobId& urgent) const;

 private:
  std::map<std::pair<TaskId, PublicKey>, JobId> asked_;
};

}  // namespace weft::scheduler
