// A test of the scheduler with a deep queue: 100,000 tasks of different jobs and 10,000 different
// workers, in simulated time and without a network. Every lease is checked independently.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <unordered_map>
#include <vector>

#include "common/base/result.h"
#include "decisions/scheduler/score.h"
#include "decisions/scheduler/types.h"

namespace weft::coordinator::bench {

// Reads a scheduler's log and counts priority inversions: leases of a task while a job of higher
// rank had a task that the same worker could have run. The checker keeps its own record of each
// job's remaining tasks. It is right only for jobs of one replica whose tasks never fail.
class InversionChecker {
 public:
  void worker(const scheduler::Worker& worker);
  void job(const scheduler::Job& job, const scheduler::Rank& rank);
  void leased(const scheduler::Lease& lease);
  void canary_passed(const JobId& job);

  [[nodiscard]] std::uint64_t leases() const { return leases_; }
  [[nodiscard]] std::uint64_t inversions() const { return inversions_; }

 private:
  struct Class {
    manifest::Requires requirements;
    std::set<scheduler::Rank> canaries;  // Jobs whose canary a native worker must run.
    std::set<scheduler::Rank> open;
  };
  struct Open {
    std::size_t of_class = 0;
    scheduler::Rank rank;
    std::uint32_t left = 0;
    bool passed = false;
  };
  struct Hand {
    bool native = false;
    std::vector<std::size_t> classes;  // Classes that the worker can run.
    const scheduler::Worker* info = nullptr;
  };
  [[nodiscard]] static bool fits(const scheduler::Worker& worker,
                                 const manifest::Requires& requirements);

  std::map<PublicKey, scheduler::Worker> workers_;
  std::unordered_map<PublicKey, Hand> hands_;
  std::vector<Class> classes_;
  std::unordered_map<JobId, Open> jobs_;
  std::uint64_t leases_ = 0;
  std::uint64_t inversions_ = 0;
};

struct DeepQueue {
  std::uint32_t tasks = 100'000;
  std::uint32_t workers = 10'000;
  std::uint64_t seed = 1;
};
struct DeepQueueResult {
  std::uint64_t assignments = 0;
  std::uint64_t inversions = 0;
  double seconds = 0;  // Time in the scheduler, for jobs, workers, results and decisions.
  std::vector<double> decide_seconds;
};
// Submits all jobs, then lets the workers finish tasks at their own speeds until the queue is
// empty.
[[nodiscard]] Result<DeepQueueResult> run_deep_queue(const DeepQueue& queue);

}  // namespace weft::coordinator::bench
