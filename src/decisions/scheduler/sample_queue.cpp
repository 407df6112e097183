#include "decisions/scheduler/sample_queue.h"

#include <algorithm>

namespace weft::scheduler {
namespace {

constexpr double newest_weight = 0.25;  // The weight of the latest check in the average.
constexpr double check_seconds_min = 1e-4;
// Times are doubled, because half of the verifiers' time is the least that newcomers' samples get.
constexpr double halves = 2;
// One network gets a fourth of the time if other networks have samples, too.
constexpr double networks = 4;

double blend(double known, double newest) { return known + newest_weight * (newest - known); }

}  // namespace

double SampleQueue::seconds_of(const Job* job, double workgroups) const {
  return job != nullptr && job->seconds_per_workgroup ? *job->seconds_per_workgroup * workgroups
                                                      : usual_;
}

void SampleQueue::add(const TaskId& task, const PublicKey& worker, Sample sample) {
  const auto [place, is_new] = entries_.try_emplace({task, worker});
  if (!is_new) return;
  place->second.sample = std::move(sample);
  count(place->second);
}

void SampleQueue::count(Entry& entry) {
  Job& job = jobs_[entry.sample.job];
  Group& group = groups_[entry.sample.group];
  ++job.entries;
  if (!job.seconds_per_workgroup) ++unmeasured_;
  entry.seconds = seconds_of(&job, entry.sample.workgroups);
  total_ += entry.seconds;
  job.workgroups += entry.sample.workgroups;
  ++group.entries;
  group.seconds += entry.seconds;
}

void SampleQueue::discount(Entry& entry) {
  Job& job = jobs_.at(entry.sample.job);
  const auto group = groups_.find(entry.sample.group);
  --job.entries;
  if (!job.seconds_per_workgroup) --unmeasured_;
  total_ -= job.seconds_per_workgroup ? seconds_of(&job, entry.sample.workgroups) : entry.seconds;
  job.workgroups -= entry.sample.workgroups;
  group->second.seconds -= entry.seconds;
  if (--group->second.entries == 0) groups_.erase(group);
  // Without entries the total is set to exactly 0, because differences of sums have rounding
  // errors.
  if (groups_.empty()) total_ = 0;
  fallen_ = true;
}

void SampleQueue::take_out(Entry& entry) {
  leave_verifier(entry);
  if (entry.state == State::stalled) {
    --jobs_.at(entry.sample.job).stalled;
    fallen_ = true;
  } else {
    discount(entry);
  }
}

void SampleQueue::remove(const TaskId& task, const PublicKey& worker) {
  const auto found = entries_.find({task, worker});
  if (found == entries_.end()) return;
  Entry& entry = found->second;
  take_out(entry);
  entries_.erase(found);
}

void SampleQueue::decide(const TaskId& task, const PublicKey& worker) {
  const auto found = entries_.find({task, worker});
  if (found == entries_.end()) return;
  // The result was decided without a check. The usual time of a check then counts as the
  // measurement of its job, so that the job's other results need not wait for a first check.
  const Sample& sample = found->second.sample;
  if (!jobs_.at(sample.job).seconds_per_workgroup && found->second.state == State::coming)
    measured(sample.job, sample.workgroups, usual_);
  remove(task, worker);
}

void SampleQueue::remove_job(const JobId& job) {
  const auto first = entries_.lower_bound({TaskId{.job = job, .index = 0}, PublicKey{}});
  for (auto each = first; each != entries_.end() && each->first.first.job == job;) {
    const Name name = (each++)->first;
    remove(name.first, name.second);
  }
  jobs_.erase(job);
}

void SampleQueue::leave_verifier(const Entry& entry) {
  if (entry.state == State::checking) --checking_;
}

void SampleQueue::begin(const TaskId& task, const PublicKey& worker, double workgroups,
                        Instant now) {
  const auto found = entries_.find({task, worker});
  if (found == entries_.end()) return;
  Entry& entry = found->second;
  take_out(entry);
  entry.sample.workgroups = workgroups;
  entry.state = State::checking;
  entry.since = now;
  count(entry);
  if (checking_++ == 0) busy_since_ = now;
}

void SampleQueue::stall(const TaskId& task, const PublicKey& worker) {
  const auto found = entries_.find({task, worker});
  if (found == entries_.end() || found->second.state == State::stalled) return;
  Entry& entry = found->second;
  leave_verifier(entry);
  discount(entry);
  entry.state = State::stalled;
  ++jobs_.at(entry.sample.job).stalled;
}

void SampleQueue::end(const TaskId& task, const PublicKey& worker, Outcome outcome, Instant now) {
  const auto found = entries_.find({task, worker});
  if (found == entries_.end() || found->second.state != State::checking) return;
  Entry& entry = found->second;
  leave_verifier(entry);
  entry.state = State::coming;
  fallen_ = true;
  const double took =
      std::max(seconds(now - std::max(busy_since_, entry.since)), check_seconds_min);
  busy_since_ = now;
  if (outcome == Outcome::failed) return;
  usual_ = std::exchange(one_measured_, true) ? blend(usual_, took) : took;
  measured(entry.sample.job, entry.sample.workgroups, took);
}

void SampleQueue::measured(const JobId& id, double workgroups, double seconds) {
  Job& job = jobs_.at(id);
  const double newest = seconds / std::max(workgroups, 1e-9);
  if (!job.seconds_per_workgroup) {
    unmeasured_ -= job.entries;
    // In the total, the guessed times of the job's entries are replaced by measured ones.
    const auto first = entries_.lower_bound({TaskId{.job = id, .index = 0}, PublicKey{}});
    for (auto each = first; each != entries_.end() && each->first.first.job == id; ++each) {
      const Entry& entry = each->second;
      if (entry.state != State::stalled) total_ += newest * entry.sample.workgroups - entry.seconds;
    }
    job.seconds_per_workgroup = newest;
    return;
  }
  const double now = blend(*job.seconds_per_workgroup, newest);
  total_ += (now - *job.seconds_per_workgroup) * job.workgroups;
  job.seconds_per_workgroup = now;
}

void SampleQueue::expect(const JobId& job, double seconds_per_workgroup) {
  jobs_.try_emplace(job);
  if (!jobs_.at(job).seconds_per_workgroup) measured(job, 1, seconds_per_workgroup);
}

// The seconds by which the running check exceeds the usual time, which delays all later checks.
double SampleQueue::overdue(Instant now) const {
  return checking_ == 0 ? 0 : std::max(0.0, seconds(now - busy_since_) - usual_);
}

double SampleQueue::wait(const Sample& sample, Instant now) const {
  const auto job = jobs_.find(sample.job);
  const double own = seconds_of(job == jobs_.end() ? nullptr : &job->second, sample.workgroups);
  return halves * (total_ + own) + overdue(now);
}

double SampleQueue::wait(Instant now) const { return halves * (total_ + usual_) + overdue(now); }

bool SampleQueue::admits(const Sample& sample, double seconds_max, Instant now) const {
  // No other sample waits, and the check of this one shows how long checks take.
  if (entries_.empty()) return true;
  const auto job = jobs_.find(sample.job);
  if (job != jobs_.end() && job->second.stalled > 0) return false;
  if (job == jobs_.end() || !job->second.seconds_per_workgroup) {
    const std::uint32_t of_job = job == jobs_.end() ? 0 : job->second.entries;
    if (of_job >= unmeasured_max || unmeasured_ >= unmeasured_all_max) return false;
  }
  const auto group = groups_.find(sample.group);
  if (!sample.group.empty() && group != groups_.end()) {
    const double own = seconds_of(job == jobs_.end() ? nullptr : &job->second, sample.workgroups);
    if (halves * networks * (group->second.seconds + own) > seconds_max) return false;
  }
  return wait(sample, now) <= seconds_max;
}

}  // namespace weft::scheduler
