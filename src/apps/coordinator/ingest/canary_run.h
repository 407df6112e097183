// Runs a part of a job on the verifier to measure the job's cost.
#pragma once

#include "apps/coordinator/ingest/device_runs.h"
#include "apps/coordinator/ingest/verified_jobs.h"
#include "decisions/jobs/world.h"
#include "decisions/scheduler/pricing.h"

namespace weft::coordinator {

// Measures the order's range, or a smaller part of it if the range takes too long. Fails with
// deadline_exceeded if even a single workgroup takes too long.
[[nodiscard]] Result<scheduler::Measurement> run_canary(DeviceRuns& runs, VerifiedJobs::Known& job,
                                                        const jobs::MeasureOrder& order);

}  // namespace weft::coordinator
