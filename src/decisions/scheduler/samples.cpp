// Newcomers' results that wait for a check, and the jobs that newcomers get nothing of meanwhile.
#include <algorithm>

#include "decisions/scheduler/state.h"

namespace weft::scheduler {
namespace {

// Late jobs are looked at again no more often: each look asks all newcomers.
constexpr auto kept_look_every = std::chrono::seconds(1);

}  // namespace

SampleQueue::Sample Scheduler::State::sample_of(const WorkerState& worker, const JobState& job) {
  const double share =
      std::max(worker.sample_share, 1.0 / std::max(job.spec.sample_parts, std::uint32_t{1}));
  SampleQueue::Sample sample{.job = job.spec.id,
                             .group = worker.info.prefix,
                             .workgroups = std::max(1.0, share * job.range_count(0))};
  // A worker of our own network is a network of its own, as it is for the verifier.
  if (worker.info.local) sample.group = worker.info.key.text();
  return sample;
}

bool Scheduler::State::check_is_late(const WorkerState& worker, const JobState& job,
                                     Instant now) const {
  return tables_.settings.safeguards.samples_in_time && job.spec.sample_parts > 0 &&
         worker.newcomer() && !worker.info.local &&
         !samples.admits(sample_of(worker, job), seconds(tables_.settings.sample_wait_max), now);
}

std::optional<Instant> Scheduler::State::kept_look() const {
  if (kept_for_checks.empty() || !samples.fallen()) return {};
  return kept_looked_at + kept_look_every;
}

void Scheduler::State::look_at_kept(Instant now) {
  const auto look = kept_look();
  if (!look || *look > now) return;
  kept_looked_at = now;
  (void)samples.take_fallen();
  for (const JobId& id : std::exchange(kept_for_checks, {})) {
    if (JobState* job = tables_.jobs.find(id)) tables_.agenda.mark(*job);
  }
}

void Scheduler::sample_begins(const TaskId& id, const PublicKey& key, double share, Instant now) {
  State& state = *state_;
  JobState* job = state.tables_.jobs.find(id.job);
  if (job == nullptr || id.index >= job->spec.tasks || job->spec.sample_parts == 0) return;
  const double workgroups = std::max(1.0, std::clamp(share, 0.0, 1.0) * job->range_count(id.index));
  const WorkerState* worker = state.tables_.workers.find(key);
  SampleQueue::Sample sample =
      worker == nullptr
          ? SampleQueue::Sample{.job = id.job, .group = key.text(), .workgroups = workgroups}
          : State::sample_of(*worker, *job);
  state.samples.add(id, key, std::move(sample));
  state.samples.begin(id, key, workgroups, now);
}

void Scheduler::sample_stalls(const TaskId& id, const PublicKey& key) {
  state_->samples.stall(id, key);
}

void Scheduler::sample_ends(const TaskId& id, const PublicKey& key, SampleQueue::Outcome outcome,
                            Instant now) {
  state_->samples.end(id, key, outcome, now);
}

void Scheduler::sample_decided(const TaskId& id, const PublicKey& key) {
  state_->samples.decide(id, key);
}

double Scheduler::sample_wait(Instant now) const { return state_->samples.wait(now); }

bool Scheduler::samples_are_late(Instant now) const {
  return state_->tables_.settings.safeguards.samples_in_time &&
         sample_wait(now) > seconds(state_->tables_.settings.sample_wait_max);
}

}  // namespace weft::scheduler
