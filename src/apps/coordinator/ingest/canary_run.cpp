#include "apps/coordinator/ingest/canary_run.h"

#include <algorithm>

#include "common/manifest/split.h"

namespace weft::coordinator {

Result<scheduler::Measurement> run_canary(DeviceRuns& runs, VerifiedJobs::Known& job,
                                          const jobs::MeasureOrder& order) {
  constexpr std::uint32_t less = 8;
  for (manifest::Range range = order.range;;
       range.count = std::max(range.count / less, std::uint32_t{1})) {
    const auto ran = runs.run(job, range);
    if (ran)
      return scheduler::Measurement{.workgroups = range.count,
                                    .gpu_seconds = ran->seconds,
                                    .elapsed_seconds = ran->seconds,
                                    .rate = ran->rate};
    if (ran.error().code != ErrorCode::deadline_exceeded || range.count == 1 ||
        !manifest::can_cut(*order.manifest))
      return std::unexpected(ran.error());
  }
}

}  // namespace weft::coordinator
