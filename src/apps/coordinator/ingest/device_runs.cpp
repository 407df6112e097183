#include "apps/coordinator/ingest/device_runs.h"

#include <algorithm>
#include <utility>

#include "apps/coordinator/ingest/step_plan.h"
#include "common/manifest/split.h"

namespace weft::coordinator {

namespace {

bool runs_in_steps(const manifest::Manifest& manifest) {
  return manifest.kind == manifest::Kind::wgsl && manifest.steps.size() > 1 &&
         !manifest::can_cut(manifest);
}

}  // namespace

Result<PartRunner::Ran> DeviceRuns::run(VerifiedJobs::Known& job, manifest::Range range,
                                        VerifierDevice device) {
  const bool in_steps = runs_in_steps(*job.job->manifest);
  if (job.limits[device].is_late(range.count, now()))
    return fail(ErrorCode::deadline_exceeded,
                "A part of the job took longer than {} s a moment ago.",
                in_steps ? task_max.count() : part_max.count());
  WEFT_ASSIGN(PartRunner* const runner, runner_on(device));
  return in_steps ? run_in_steps(*runner, job, range, device)
                  : run_at_once(*runner, job, range, device);
}

Result<PartRunner*> DeviceRuns::runner_on(VerifierDevice device) {
  if (!runners_[first_device]) runners_[first_device] = make_();
  if (device == second_device && !runners_[second_device] && has_second_) {
    runners_[second_device] = runners_[first_device]->on_another_device();
    has_second_ = runners_[second_device] != nullptr;
  }
  if (!runners_[device])
    return fail(ErrorCode::unavailable, "This machine has no second device that runs WGSL.");
  return runners_[device].get();
}

Result<PartRunner::Ran> DeviceRuns::run_at_once(PartRunner& runner, VerifiedJobs::Known& job,
                                                manifest::Range range, VerifierDevice device) {
  const Instant began = now();
  auto ran = runner.run(job.job, {.range = range}, part_max);
  if (ran) {
    if (device == first_device) job.costs.ran(range.count, seconds(now() - began));
    job.limits[device].ran(range.count, ran->seconds);
  } else if (ran.error().code == ErrorCode::deadline_exceeded) {
    job.limits[device].ran_out(range.count, seconds(part_max), now() + late_for_);
  }
  return ran;
}

Result<PartRunner::Ran> DeviceRuns::run_in_steps(PartRunner& runner, VerifiedJobs::Known& job,
                                                 manifest::Range range, VerifierDevice device) {
  StepPlan plan(static_cast<std::uint32_t>(job.job->manifest->steps.size()),
                {.run_seconds = seconds(part_max), .task_seconds = seconds(task_max)},
                job.steps[device]);
  PartRunner::Ran last;
  std::shared_ptr<std::vector<ByteVector>> state;
  while (const auto group = plan.next(now())) {
    const Instant began = now();
    auto ran = runner.run(
        job.job,
        {.range = range, .step_first = group->first, .step_count = group->count, .state = state},
        std::chrono::duration_cast<Duration>(std::chrono::duration<double>(group->seconds_max)));
    if (!ran && ran.error().code != ErrorCode::deadline_exceeded) return ran;
    if (!ran) {
      if (!plan.ran_out(*group, now())) break;
    } else if (plan.ran(*group, ran->seconds, seconds(now() - began))) {
      state = std::make_shared<std::vector<ByteVector>>(std::move(ran->outputs));
      last.rate = ran->rate;
    }
  }
  if (!plan.is_done()) {
    const double more = std::max(plan.elapsed() / seconds(part_max), 1.0);
    job.limits[device].ran_out(range.count, seconds(task_max),
                               now() + std::chrono::duration_cast<Duration>(late_for_ * more));
    return fail(ErrorCode::deadline_exceeded,
                "The task takes longer than {} s, or one of its steps longer than {} s.",
                task_max.count(), part_max.count());
  }
  last.outputs = std::move(*state);
  last.seconds = plan.seconds();
  if (device == first_device) job.costs.ran(range.count, plan.elapsed());
  job.limits[device].ran(range.count, last.seconds);
  return last;
}

std::uint32_t DeviceRuns::workgroups_in_time(const VerifiedJobs::Known& job,
                                             VerifierDevice device) {
  return job.limits[device].workgroups_in(seconds(part_max));
}

std::string DeviceRuns::vendor() const {
  return runners_[first_device] ? runners_[first_device]->vendor() : std::string();
}

void DeviceRuns::rest() {
  for (const auto& runner : runners_) {
    if (runner) runner->rest();
  }
}

void DeviceRuns::end() {
  for (auto& runner : runners_) runner.reset();
}

}  // namespace weft::coordinator
