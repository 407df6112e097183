// What may run beside a job's canary, and where the canary runs. Pure functions of a job.
#pragma once

#include "decisions/scheduler/job_state.h"
#include "decisions/scheduler/worker_state.h"

namespace weft::scheduler {

// A stranger's shader is tried natively first, where a native worker that fits is connected.
[[nodiscard]] inline bool waits_for_native(const JobState& job) {
  constexpr auto native = static_cast<std::size_t>(protocol::WorkerKind::native);
  return job.canary != CanaryState::passed && job.spec.kind == manifest::Kind::wgsl &&
         (job.has_trusted() ? job.trusted_able(native) : job.able(native)) > 0;
}

// While a canary runs: whether more tasks of its job may go out, if a worker may take one
// (may_scout()).
[[nodiscard]] inline bool sends_scouts(const Settings& settings, const JobState& job) {
  return job.urgent && job.canary == CanaryState::leased && job.leases <= settings.scouts_max;
}

// How long a scout takes is not known: it goes to an idle worker. A stranger's shader has run
// nowhere yet: browsers wait.
[[nodiscard]] inline bool may_scout(const Settings& settings, const WorkerState& worker,
                                    const JobState& job) {
  return sends_scouts(settings, job) && worker.running.empty() &&
         (worker.native() || job.spec.kind != manifest::Kind::wgsl);
}

}  // namespace weft::scheduler
