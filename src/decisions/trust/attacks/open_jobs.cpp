#include "decisions/trust/attacks/open_jobs.h"

#include <algorithm>
#include <utility>

#include "common/base/check.h"
#include "decisions/trust/attacks/simulated_answer.h"

namespace weft::trust::attacks {
namespace {

constexpr auto costly_every = static_cast<std::uint32_t>(1 / costly_share);
constexpr std::uint32_t own_clients = 20;
// The number of the first client. No worker has such a high number.
constexpr std::uint32_t first_client = 1'000'000;

}  // namespace

void OpenJobs::submit() {
  const Scene& setup = context_.setup;
  const Plan& plan = context_.plan;
  const bool own =
      context_.strategy != nullptr && plan.own_jobs > 0 && chance(context_.random) < plan.own_jobs;
  if (own) add(plan.own_tasks, setup.clients + own_started_++ % own_clients, true);
  const std::uint32_t tasks = std::min(setup.job_tasks, setup.tasks - submitted_);
  submitted_ += tasks;
  ++open_;
  add(tasks, honest_started_++ % setup.clients, false);
}

void OpenJobs::add(std::uint32_t tasks, std::uint32_t client, bool own) {
  const Scene& setup = context_.setup;
  const std::uint32_t number = jobs_started_++;
  const bool is_stepped = context_.plan.stepped_jobs;
  const std::uint32_t parts = is_stepped ? 1 : setup.slices;
  const auto id = id_of<JobId>(number);
  SimulatedJob job;
  job.client = client;
  job.tasks = tasks;
  job.own = own;
  job.devices_differ = own && context_.plan.devices_differ;
  job.is_costly = number % costly_every == costly_every - 1;
  scheduler::Job wanted;
  wanted.id = id;
  wanted.tasks = tasks;
  wanted.workgroups = tasks * setup.slices;
  wanted.replicas = setup.replicas;
  wanted.replicas_first = setup.replicas > 1 && setup.stake > 0 ? 1 : 0;
  wanted.budget = MicroCredits{1} << 60;
  wanted.per_unit = MicroCredits{1'000'000} * (job.is_costly ? costly : 1);
  wanted.client = id_of<PublicKey>(first_client + client);
  if (setup.referee.defences.newcomers_decide_nothing)
    wanted.sample_parts = std::clamp<std::uint32_t>(parts, 1, setup.referee.checks.audit_parts_max);
  jobs_.emplace(number, std::move(job));
  context_.referee.add_job(
      id,
      {.replicas = setup.replicas,
       .audit = 0,
       .parts = parts,
       .groups = is_stepped ? step_groups : 1,
       .agree = {},
       .client = wanted.client,
       .eligible =
           [this, id] {
             return static_cast<std::uint32_t>(context_.scheduler.views().able_count(id));
           }},
      tasks);
  check(context_.scheduler.add_job(wanted, context_.now()).has_value(), "a job is new");
}

SimulatedJob* OpenJobs::of(const TaskId& task) {
  const auto found = jobs_.find(number_of(task.job));
  return found == jobs_.end() ? nullptr : &found->second;
}

std::optional<SimulatedJob> OpenJobs::end(const JobId& id) {
  auto node = jobs_.extract(number_of(id));
  if (node.empty()) return std::nullopt;
  context_.referee.remove_job(id);
  context_.scheduler.remove_job(id, "The job has ended.");
  if (!node.mapped().own) --open_;
  return std::move(node.mapped());
}

double OpenJobs::open_price() const {
  double price = 0;
  for (const auto& [number, job] : jobs_) price += job.own ? 0 : job.price();
  return price;
}

bool OpenJobs::differs(const SimulatedJob& job, const TaskId& task) const {
  const std::uint32_t every = context_.plan.differ_every;
  return job.devices_differ && task.index % every == every - 1;
}

}  // namespace weft::trust::attacks
