// A part of a job that the verifier runs to show what the job costs.
#pragma once

#include "apps/coordinator/ingest/device_runs.h"
#include "apps/coordinator/ingest/verified_jobs.h"
#include "decisions/jobs/world.h"
#include "decisions/scheduler/pricing.h"

namespace weft::coordinator {

// A smaller part is measured if this one takes too long. deadline_exceeded: a single workgroup
// does.
[[nodiscard]] Result<scheduler::Measurement> run_canary(DeviceRuns& runs, VerifiedJobs::Known& job,
                                                        const jobs::MeasureOrder& order);

}  // namespace weft::coordinator
