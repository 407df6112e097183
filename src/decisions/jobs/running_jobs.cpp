#include "decisions/jobs/running_jobs.h"

#include <algorithm>

#include "common/base/check.h"
#include "common/base/counted.h"

namespace weft::jobs {

bool asks_for_roots(const RunningJob& job, std::uint32_t index, const PublicKey& worker,
                    std::uint32_t attempt) {
  const auto of_task = job.roots_asked.find(index);
  if (of_task == job.roots_asked.end()) return false;
  const auto asked = of_task->second.find(worker);
  return asked != of_task->second.end() && asked->second == attempt;
}

std::vector<store::OutputBlob> blobs_of(const protocol::TaskResult& result) {
  std::vector<store::OutputBlob> blobs;
  for (const auto& output : result.outputs)
    blobs.push_back({.hash = output.hash, .bytes = output.bytes});
  return blobs;
}

RunningJob* RunningJobs::find(const JobId& id) {
  const auto found = jobs_.find(id);
  return found == jobs_.end() ? nullptr : &found->second;
}

const RunningJob* RunningJobs::find(const JobId& id) const {
  const auto found = jobs_.find(id);
  return found == jobs_.end() ? nullptr : &found->second;
}

bool RunningJobs::any_of_client(const PublicKey& client) const {
  return std::ranges::any_of(jobs_,
                             [&](const auto& job) { return job.second.row.client == client; });
}

Result<> RunningJobs::room_for(const OwnerId& owner, std::uint64_t tasks) const {
  if (jobs_.size() >= settings_.jobs_running_max ||
      tasks_open_ + tasks > settings_.tasks_open_max) {
    return fail(ErrorCode::resource_exhausted,
                "{} jobs with {} open tasks are running; try again when some have ended "
                "(--jobs-max and --tasks-max raise the bounds).",
                jobs_.size(), tasks_open_);
  }
  const auto found = loads_.find(owner);
  const Load own = found == loads_.end() ? Load{} : found->second;
  const auto is_over = [](std::uint64_t count, std::uint64_t most) {
    return most > 0 && count > most;
  };
  if (is_over(own.jobs + 1, settings_.jobs_per_client_max) ||
      is_over(own.tasks + tasks, settings_.tasks_per_client_max)) {
    return fail(ErrorCode::resource_exhausted,
                "The client has {} with {} running already; try again when some have ended "
                "(--jobs-per-client and --tasks-per-client raise the bounds).",
                counted(own.jobs, "job"), counted(own.tasks, "task"));
  }
  return {};
}

void RunningJobs::add(RunningJob job) {
  tasks_open_ += job.row.tasks - job.accepted_count;
  Load& load = loads_[job.owner];
  ++load.jobs;
  load.tasks += job.row.tasks;
  book_.set_load(job.owner, {.jobs = load.jobs, .tasks = load.tasks});
  const JobId id = job.row.id;
  const bool is_new = jobs_.emplace(id, std::move(job)).second;
  check(is_new, "a job begins to run once");
}

void RunningJobs::remove(const JobId& id) {
  const auto found = jobs_.find(id);
  if (found == jobs_.end()) return;
  const RunningJob& job = found->second;
  tasks_open_ -= job.row.tasks - job.accepted_count;
  if (const auto load = loads_.find(job.owner); load != loads_.end()) {
    load->second.tasks -= job.row.tasks;
    --load->second.jobs;
    book_.set_load(job.owner, {.jobs = load->second.jobs, .tasks = load->second.tasks});
    if (load->second.jobs == 0) loads_.erase(load);
  }
  jobs_.erase(found);
}

void RunningJobs::accept(RunningJob& job, std::uint32_t index, Settled settled) {
  check(!job.accepted[index], "a task is accepted once");
  job.accepted[index] = std::make_unique<const Settled>(std::move(settled));
  ++job.accepted_count;
  --tasks_open_;
}

}  // namespace weft::jobs
