#include "decisions/scheduler/job_table.h"

#include <utility>

#include "common/base/check.h"

namespace weft::scheduler {

JobState& JobTable::add(std::unique_ptr<JobState> job) {
  const JobId id = job->spec.id;
  const auto [place, is_new] = jobs_.emplace(id, std::move(job));
  check(is_new, "a job is in the table once");
  return *place->second;
}

void JobTable::erase(const JobState& job) { jobs_.erase(JobId(job.spec.id)); }

}  // namespace weft::scheduler
