// A scheduler and the leases that it has given, so that a test can answer them by worker and task.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <utility>
#include <vector>

#include "decisions/scheduler/scheduler.h"
#include "decisions/scheduler/test_network.h"

namespace weft::scheduler {

struct Rig {
  Scheduler scheduler{Settings{}};
  std::vector<Decision> last;
  std::map<std::pair<TaskId, PublicKey>, std::uint32_t> attempts;

  std::vector<Lease> decide(double time) {
    last = scheduler.decide(at(time));
    for (const Lease& lease : all<Lease>(last)) {
      for (const auto& task : lease.tasks)
        attempts[{{lease.job, task.index}, lease.worker}] = task.attempt;
    }
    return all<Lease>(last);
  }
  void add(const Worker& worker, double time = 0) {
    ASSERT_TRUE(scheduler.add_worker(worker, at(time)).has_value());
  }
  void add(const Job& job, double time = 0, std::span<const TaskProgress> progress = {}) {
    ASSERT_TRUE(scheduler.add_job(job, at(time), progress).has_value());
  }
  Result<> report(std::uint64_t job, std::uint32_t index, std::uint64_t worker, double time,
                  double gpu_seconds = 1) {
    const TaskId task{job_id_of(job), index};
    return scheduler.result({.task = task,
                             .worker = key_of(worker),
                             .attempt = attempts[{task, key_of(worker)}],
                             .gpu_seconds = gpu_seconds},
                            at(time));
  }
  // Reports a result that is accepted at once.
  void finish(std::uint64_t job, std::uint32_t index, std::uint64_t worker, double time,
              double gpu_seconds = 1) {
    ASSERT_TRUE(report(job, index, worker, time, gpu_seconds).has_value());
    scheduler.counted({job_id_of(job), index}, key_of(worker));
    scheduler.settled({job_id_of(job), index});
  }
  Result<> fail_task(std::uint64_t job, std::uint32_t index, std::uint64_t worker, double time,
                     ErrorCode code) {
    const TaskId task{job_id_of(job), index};
    return scheduler.failed(task, key_of(worker), attempts[{task, key_of(worker)}],
                            {code, "It went wrong."}, at(time));
  }
};

inline std::size_t tasks_in(const std::vector<Lease>& leases) {
  std::size_t count = 0;
  for (const Lease& lease : leases) count += lease.tasks.size();
  return count;
}

}  // namespace weft::scheduler
