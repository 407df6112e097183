// The parts of the scheduler for a test of one part. The test adds workers and jobs by number; all
// other parts are the real ones.
#pragma once

#include <gtest/gtest.h>

#include "decisions/scheduler/scheduler_parts.h"
#include "decisions/scheduler/test_network.h"

namespace weft::scheduler {

struct TestParts {
  explicit TestParts(const Settings& settings = {}) : parts(settings) {}

  WorkerState& add(const Worker& worker, double time = 0) {
    EXPECT_TRUE(parts.worker_events.add(worker, at(time)).has_value());
    return tables.workers.at(worker.key);
  }
  JobState& add(const Job& job, double time = 0) {
    EXPECT_TRUE(parts.job_events.add(job, at(time), {}).has_value());
    return tables.jobs.at(job.id);
  }
  void lease(WorkerState& worker, JobState& job, std::uint32_t index, double time = 0) {
    parts.leases.give(worker, job, index, 1, at(time));
  }
  // Returns the decisions that were made since the last call.
  std::vector<Decision> decided() { return tables.out.take(); }
  // Empties the agenda, so that the next pass would look at no jobs and workers.
  void clear_agenda() {
    tables.agenda.begin_pass();
    while (tables.agenda.first() != nullptr) tables.agenda.take_first();
    (void)tables.agenda.take_workers();
  }
  bool is_marked(const JobState& job) {
    bool found = false;
    tables.agenda.begin_pass();
    while (tables.agenda.first() != nullptr) found |= &tables.agenda.take_first() == &job;
    return found;
  }

  SchedulerParts parts;
  SchedulerTables& tables = parts.tables;
};

inline Worker newcomer(std::uint64_t number, const std::string& prefix = "") {
  Worker worker = native_worker(number);
  worker.standing = Standing::newcomer;
  worker.prefix = prefix;
  return worker;
}
inline Worker established(std::uint64_t number) {
  Worker worker = native_worker(number);
  worker.standing = Standing::established;
  return worker;
}
inline Worker sliced_worker(std::uint64_t number) {
  Worker worker = native_worker(number);
  worker.sharing = Sharing::sliced;
  return worker;
}

}  // namespace weft::scheduler
