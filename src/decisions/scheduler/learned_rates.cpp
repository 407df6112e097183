#include "decisions/scheduler/learned_rates.h"

#include <algorithm>
#include <cmath>

namespace weft::scheduler {

void LearnedRates::learn(WorkerState& worker, JobState& job, const Measurement& measurement) {
  prices_.reprice(job, measurement, worker);
  const double pace = reference_seconds_per_workgroup(measurement);
  const double canary = job.spec.estimate ? job.spec.estimate->reference_seconds_per_workgroup : 0;
  if (pace > 0 && canary > 0) {
    // `shown` is the factor by which the worker is faster than it claims, compared with the canary.
    // Five results move the known factor halfway to the shown one. The average is of logarithms, so
    // that a single extreme value has little effect. Measurements use the claimed rate: with the
    // corrected rate each measurement would affect the next one.
    const double most = members_.says(worker.info.standing) ? rate_correction_max : rate_shown_max;
    const double shown = std::clamp(canary / pace, 1 / most, most);
    const double now_at = worker.rate / worker.rate_said;
    members_.set_rate(worker, worker.rate_said * now_at * std::pow(shown / now_at, 0.13));
  }
  if (worker.newcomer() && tables_.settings.safeguards.rates_are_shown)
    return;  // A newcomer could delay its result to change the job's pace.
  job.pace = std::max(job.pace, pace);
  constexpr double weight = 0.1;
  job.pace_usual += weight * (pace - job.pace_usual);
}

}  // namespace weft::scheduler
