// The decisions since the last decide(), in order. Tasks of one job that go to one worker in one
// decide() form one Lease.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "decisions/scheduler/types.h"

namespace weft::scheduler {

class DecisionQueue {
 public:
  void push_back(Decision decision) { decisions_.push_back(std::move(decision)); }
  // Adds the task to the worker's lease of the job. If this decide() has no such lease yet, `made`
  // returns one without tasks. `worker` is a WorkerState::sequence.
  void lease(std::uint64_t worker, const JobId& job, const std::function<Lease()>& made,
             const protocol::LeasedTask& task);
  [[nodiscard]] std::vector<Decision> take();

 private:
  std::vector<Decision> decisions_;
  // Indexes into decisions_ by worker and job.
  std::map<std::pair<std::uint64_t, JobId>, std::size_t> leases_;
};

}  // namespace weft::scheduler
