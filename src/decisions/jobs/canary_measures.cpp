#include "decisions/jobs/canary_measures.h"

#include <algorithm>
#include <utility>

#include "common/base/log.h"
#include "common/manifest/split.h"

namespace weft::jobs {

void CanaryMeasures::order(const JobId& id) {
  const RunningJob* const job = tables_.jobs.find(id);
  if (job == nullptr || !tables_.world.verifies()) return;
  const auto whole = manifest::task_range(*job->manifest, 0);
  // A thirty-second of a task, or the whole task if it cannot be cut.
  const std::uint32_t count =
      manifest::can_cut(*job->manifest) ? std::max(whole.count / 32, 1U) : whole.count;
  tables_.outbox.effect(
      [&world = tables_.world, order = MeasureOrder{.job = id,
                                                    .manifest = job->manifest,
                                                    .range = {.first = whole.first, .count = count},
                                                    .client = job->row.client}] {
        world.measure(order);
      });
}

void CanaryMeasures::measured(const JobId& id, const Result<scheduler::Measurement>& measurement,
                              Moment now) {
  if (measurement) {
    late_.erase(id);
    too_long_.erase(id);
    verifier_rate_ = measurement->rate;
    return tables_.scheduler.checks().canary_measured(id, *measurement, now.at);
  }
  if (!tables_.jobs.contains(id)) return;
  if (measurement.error().code == ErrorCode::deadline_exceeded) too_long_.insert(id);
  trust::LateCheck& late = late_[id];
  late.ran_out(measurement.error().message, now.at);
  if (late.tries() == 1 || late.tries() == trust::LateCheck::tries_max)
    log_warning("Job {}: {}", id.text(), late.sentence("the measurement of a part", now.at));
}

void CanaryMeasures::ask_again(Moment now) {
  std::erase_if(late_, [&](auto& each) {
    if (!each.second.take_due(now.at)) return false;
    const auto progress = tables_.scheduler.views().progress(each.first);
    if (!progress || progress->estimate) return true;  // A worker has already measured the job.
    order(each.first);
    return false;
  });
}

std::optional<Instant> CanaryMeasures::deadline() const {
  std::optional<Instant> next;
  for (const auto& [job, late] : late_) {
    if (late.waits()) next = next ? std::min(*next, late.next()) : late.next();
  }
  return next;
}

LateView CanaryMeasures::why_late(const JobId& id, Instant now) const {
  const auto found = late_.find(id);
  if (found == late_.end() || !found->second.is_told()) return {};
  return {.sentence = found->second.sentence("the measurement of a part", now)};
}

}  // namespace weft::jobs
