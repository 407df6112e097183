#include "decisions/scheduler/worker_choice.h"

#include <algorithm>

#include "decisions/scheduler/canary_rules.h"

namespace weft::scheduler {
namespace {

constexpr auto native_side = static_cast<std::size_t>(protocol::WorkerKind::native);
constexpr auto browser_side = static_cast<std::size_t>(protocol::WorkerKind::browser);
// The most workers that do not suit a job and are looked at for it; there may be thousands.
constexpr std::size_t pass_overs_max = 64;

}  // namespace

struct WorkerChoice::Found {
  WorkerState* suits = nullptr;  // The worker that gets the task at once.
  std::uint32_t index = 0;       // The index of the chosen task.
  // A worker that failed the task before. It gets the task if no other worker is free.
  WorkerState* failed_before = nullptr;
  WorkerState* passed_over = nullptr;  // The best of the workers that do not suit the task.
  std::size_t passed_over_count = 0;
  bool lacks_room = false;
};

bool WorkerChoice::takes(const WorkerState& worker, JobState& job, Instant now) {
  const auto index = parts_.choice.task_for(worker, job, now);
  if (!index) return false;
  if (!parts_.promises.admits(worker, job, *index, now)) {
    const JobState* promised = job.requirements->promised;
    return promised == nullptr || job.rank < promised->rank;  // Room may be promised.
  }
  const bool waits = job.patient_until && *job.patient_until > now;
  return !waits || parts_.prospects.suits(worker, job, *index, now);
}

WorkerChoice::Found WorkerChoice::find(JobState& job, Instant now) {
  const auto& natives = job.requirements->free[native_side];
  const auto& browsers = job.requirements->free[browser_side];
  auto next_native = natives.begin();
  auto next_browser = waits_for_native(job) ? browsers.end() : browsers.begin();
  Found found;
  double chance_best = -1;
  while (next_native != natives.end() || next_browser != browsers.end()) {
    const bool take_native =
        next_browser == browsers.end() ||
        (next_native != natives.end() && next_native->first < next_browser->first);
    WorkerState& worker = take_native ? *(next_native++)->second : *(next_browser++)->second;
    if (job.canary == CanaryState::leased && !worker.running.empty())
      break;  // Apart from newcomers, idle workers come first.
    const auto index = parts_.choice.task_for(worker, job, now);
    if (!index) continue;
    if (!parts_.promises.admits(worker, job, *index, now)) {
      found.lacks_room = true;
      continue;
    }
    if (const double chance = parts_.prospects.chance(worker, job, *index, now);
        chance < 1 - tables_.settings.leaving_risk_max) {
      if (chance > chance_best) {
        chance_best = chance;
        found.passed_over = &worker;
      }
      if (++found.passed_over_count >= pass_overs_max) break;
      continue;
    }
    const auto task = job.tasks.find(*index);
    if (task == job.tasks.end() ||
        !std::ranges::contains(task->second.failures, worker.info.key, &FailureOn::worker)) {
      job.patient_until.reset();
      found.suits = &worker;
      found.index = *index;
      break;
    }
    if (found.failed_before == nullptr) found.failed_before = &worker;
  }
  return found;
}

bool WorkerChoice::give(JobState& job, Instant now) {
  if (job.listed_phase == RequirementClass::phases) return false;
  parts_.canaries.want_device(job);
  const Found found = find(job, now);
  const auto grant = [&](WorkerState& worker, std::uint32_t index) {
    const auto task = job.tasks.find(index);
    lease(worker, job, index, task == job.tasks.end() ? 1 : task->second.next_attempt, now);
    return true;
  };
  if (found.suits != nullptr) return grant(*found.suits, found.index);
  const std::size_t asked =
      job.able(native_side) + (waits_for_native(job) ? 0 : job.able(browser_side));
  if (found.failed_before == nullptr && found.passed_over == nullptr) {
    const auto& free = job.requirements->free;
    if (found.lacks_room || free[native_side].size() + free[browser_side].size() < asked)
      parts_.promises.promise(job, now);
    return false;
  }
  WorkerState& worker = found.failed_before != nullptr ? *found.failed_before : *found.passed_over;
  const std::uint32_t index = *parts_.choice.task_for(worker, job, now);
  // The job waits only if another worker could still become free.
  const bool patient = found.failed_before == nullptr && found.passed_over_count < asked;
  if (patient && (!job.patient_until || *job.patient_until > now)) {
    // A lease that ends without a result wastes the time of the task, so that it is worth waiting
    // as long as this for a better worker.
    const auto wait = std::chrono::duration<double>(
        std::min(parts_.prospects.predicted_seconds(worker, job, index),
                 seconds(tables_.settings.wall_max)));
    wait_for_better(job, std::chrono::duration_cast<Duration>(wait), now);
    return false;
  }
  return grant(worker, index);
}

void WorkerChoice::wait_for_better(JobState& job, Duration wait, Instant now) {
  if (job.patient_until) return;
  job.patient_until = now + wait;
  tables_.deadlines.patience.set(*job.patient_until, job.spec.id);
}

void WorkerChoice::lease(WorkerState& worker, JobState& job, std::uint32_t index,
                         std::uint32_t attempt, Instant now) {
  tables_.out.lease(worker.sequence, job.spec.id, [&] { return terms(worker, job, index); },
                    {.index = index,
                     .attempt = attempt,
                     .first = job.range_first(index),
                     .count = job.range_count(index)});
  parts_.leases.give(worker, job, index, attempt, now);
}

Lease WorkerChoice::terms(const WorkerState& worker, const JobState& job,
                          std::uint32_t index) const {
  Lease lease{.worker = worker.info.key,
              .job = job.spec.id,
              .wall_ms_max = static_cast<std::uint32_t>(tables_.settings.wall_max.count()),
              .tasks = {}};
  lease.canary = job.canary != CanaryState::passed;
  if (lease.canary ||
      parts_.prospects.is_long(parts_.prospects.predicted_seconds(worker, job, index)))
    lease.checkpoint_ms = static_cast<std::uint32_t>(tables_.settings.checkpoint_min.count());
  if (lease.canary) {
    // A run in a browser cannot be stopped, so its canary begins with the smallest dispatch. A
    // native worker can stop the child process that runs the task.
    lease.piece_workgroups_max = !worker.native() && job.spec.kind == manifest::Kind::wgsl ? 1 : 0;
  } else {
    lease.piece_workgroups_max = parts_.prospects.piece_workgroups_max(worker, job);
  }
  return lease;
}

}  // namespace weft::scheduler
