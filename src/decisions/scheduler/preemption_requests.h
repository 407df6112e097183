// Which running replicas were asked to stop at their next checkpoint, and for which job.
#pragma once

#include <cstddef>
#include <map>
#include <utility>

#include "common/base/ids.h"

namespace weft::scheduler {

class PreemptionRequests {
 public:
  void add(const TaskId& task, const PublicKey& worker, const JobId& urgent);
  // The replica does not run any more.
  void end(const TaskId& task, const PublicKey& worker);
  void end(const TaskId& task);
  // The urgent job has ended.
  void end_for(const JobId& urgent);
  [[nodiscard]] std::size_t count_for(const JobId& urgent) const;

 private:
  std::map<std::pair<TaskId, PublicKey>, JobId> asked_;
};

}  // namespace weft::scheduler
