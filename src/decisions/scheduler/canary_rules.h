// Rules for the tasks that may run beside a job's canary, and for the workers that may run the
// canary. Pure functions of a job.
#pragma once

#include "decisions/scheduler/job_state.h"
#include "decisions/scheduler/worker_state.h"

namespace weft::scheduler {

// True if the canary waits for a native worker: if a native worker that fits is connected, a
// stranger's shader runs on such a worker first.
[[nodiscard]] inline bool waits_for_native(const JobState& job) {
  constexpr auto native = static_cast<std::size_t>(protocol::WorkerKind::native);
  return job.canary != CanaryState::passed && job.spec.kind == manifest::Kind::wgsl &&
         (job.has_trusted() ? job.trusted_able(native) : job.able(native)) > 0;
}

// True if, while the job's canary runs, more tasks of the job may go to workers that may_scout()
// allows.
[[nodiscard]] inline bool sends_scouts(const Settings& settings, const JobState& job) {
  return job.urgent && job.canary == CanaryState::leased && job.leases <= settings.scouts_max;
}

// True if the worker may run a task beside the canary (a scout). The length of a scout is not
// known, so it goes to an idle worker. Browsers do not run scouts of a shader, because a stranger's
// shader has run nowhere yet.
[[nodiscard]] inline bool may_scout(const Settings& settings, const WorkerState& worker,
                                    const JobState& job) {
  return sends_scouts(settings, job) && worker.running.empty() &&
         (worker.native() || job.spec.kind != manifest::Kind::wgsl);
}

}  // namespace weft::scheduler
