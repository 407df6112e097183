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

// The number of steps in a part of a task that is run by steps.
std::uint32_t steps_of(const manifest::Manifest& manifest, const PartRun& part) {
  return part.step_count > 0 ? part.step_count : static_cast<std::uint32_t>(manifest.steps.size());
}

}  // namespace

Result<PartRunner::Ran> DeviceRuns::run_part(VerifiedJobs::Known& job, const PartRun& part,
                                             VerifierDevice device) {
  const manifest::Manifest& manifest = *job.job->manifest;
  const bool in_steps = runs_in_steps(manifest);
  // The limits of a job that is run by steps count steps, because each run has all workgroups. A
  // run from a worker's state neither follows the limits nor changes them: the worker chose how
  // long it takes, and would keep the job's other checks from being run.
  if (!part.state &&
      job.limits[device].is_late(in_steps ? steps_of(manifest, part) : part.range.count, now()))
    return fail(ErrorCode::deadline_exceeded,
                "A part of the job took longer than {} s a moment ago.",
                in_steps ? task_max.count() : part_max.count());
  WEFT_ASSIGN(PartRunner* const runner, runner_on(device));
  return in_steps ? run_in_steps(*runner, job, part, device)
                  : run_at_once(*runner, job, part.range, device);
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
                                                 const PartRun& part, VerifierDevice device) {
  const std::uint32_t steps = steps_of(*job.job->manifest, part);
  StepPlan plan(steps, {.run_seconds = seconds(part_max), .task_seconds = seconds(task_max)},
                job.steps[device]);
  PartRunner::Ran last;
  std::shared_ptr<const std::vector<ByteVector>> state = part.state;
  while (const auto group = plan.next(now())) {
    const Instant began = now();
    auto ran = runner.run(
        job.job,
        {.range = part.range,
         .step_first = part.step_first + group->first,
         .step_count = group->count,
         .state = state},
        std::chrono::duration_cast<Duration>(std::chrono::duration<double>(group->seconds_max)));
    if (!ran && ran.error().code != ErrorCode::deadline_exceeded) return ran;
    if (!ran) {
      if (!plan.ran_out(*group, now())) break;
    } else if (plan.ran(*group, ran->seconds, seconds(now() - began))) {
      last.rate = ran->rate;
      if (plan.is_done()) {
        last.outputs = std::move(ran->outputs);
      } else {
        state = std::make_shared<const std::vector<ByteVector>>(std::move(ran->outputs));
      }
    }
  }
  if (!plan.is_done()) {
    const double more = std::max(plan.elapsed() / seconds(part_max), 1.0);
    if (!part.state)
      job.limits[device].ran_out(steps, seconds(task_max),
                                 now() + std::chrono::duration_cast<Duration>(late_for_ * more));
    return fail(ErrorCode::deadline_exceeded,
                "The task takes longer than {} s, or one of its steps longer than {} s.",
                task_max.count(), part_max.count());
  }
  last.seconds = plan.seconds();
  if (part.state) return last;
  if (device == first_device) job.costs.ran(part.range.count, plan.elapsed());
  job.limits[device].ran(steps, last.seconds);
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
