#include "decisions/scheduler/sample_checks.h"

#include <algorithm>
#include <utility>

namespace weft::scheduler {
namespace {

// The shortest time between two looks at the jobs: each look asks all newcomers.
constexpr auto kept_look_every = std::chrono::seconds(1);

}  // namespace

SampleQueue::Sample SampleChecks::sample_of(const WorkerState& worker, const JobState& job) {
  const double share =
      std::max(worker.sample_share, 1.0 / std::max(job.spec.sample_parts, std::uint32_t{1}));
  SampleQueue::Sample sample{.job = job.spec.id,
                             .group = worker.info.prefix,
                             .workgroups = std::max(1.0, share * job.range_count(0))};
  // A worker on this machine or in a private network counts as its own network, as it does for the
  // verifier.
  if (worker.info.local) sample.group = worker.info.key.text();
  return sample;
}

bool SampleChecks::is_late(const WorkerState& worker, const JobState& job, Instant now) const {
  return tables_.settings.safeguards.samples_in_time && job.spec.sample_parts > 0 &&
         worker.newcomer() && !worker.info.local &&
         !tables_.samples.admits(sample_of(worker, job), seconds(tables_.settings.sample_wait_max),
                                 now);
}

bool SampleChecks::are_late(Instant now) const {
  return tables_.settings.safeguards.samples_in_time &&
         wait(now) > seconds(tables_.settings.sample_wait_max);
}

void SampleChecks::leased(const WorkerState& worker, const JobState& job, std::uint32_t index) {
  if (job.spec.sample_parts > 0)
    tables_.samples.add(job.task_id(index), worker.info.key, sample_of(worker, job));
}

void SampleChecks::begin(const TaskId& id, const PublicKey& key, double share, Instant now) {
  const JobState* job = tables_.jobs.find(id.job);
  if (job == nullptr || id.index >= job->spec.tasks || job->spec.sample_parts == 0) return;
  const double workgroups = std::max(1.0, std::clamp(share, 0.0, 1.0) * job->range_count(id.index));
  const WorkerState* worker = tables_.workers.find(key);
  SampleQueue::Sample sample =
      worker == nullptr
          ? SampleQueue::Sample{.job = id.job, .group = key.text(), .workgroups = workgroups}
          : sample_of(*worker, *job);
  tables_.samples.add(id, key, std::move(sample));
  tables_.samples.begin(id, key, workgroups, now);
}

void SampleChecks::forget(const JobState& job) {
  tables_.samples.remove_job(job.spec.id);
  kept_.erase(job.spec.id);
}

std::optional<Instant> SampleChecks::next_look() const {
  if (kept_.empty() || !tables_.samples.fallen()) return {};
  return looked_at_ + kept_look_every;
}

void SampleChecks::look_again(Instant now) {
  const auto look = next_look();
  if (!look || *look > now) return;
  looked_at_ = now;
  (void)tables_.samples.take_fallen();
  for (const JobId& id : std::exchange(kept_, {})) {
    if (JobState* job = tables_.jobs.find(id)) tables_.agenda.mark(*job);
  }
}

}  // namespace weft::scheduler
