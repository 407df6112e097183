// Turns the stored rows into the running state. The tasks and replicas of Loaded are in the order
// of its jobs, so that one pass over the three lists is enough; rows that are no longer needed are
// freed during the pass.
#include <algorithm>
#include <utility>

#include "common/base/counted.h"
#include "common/base/log.h"
#include "common/manifest/step_groups.h"
#include "decisions/jobs/core_parts.h"
#include "decisions/jobs/extra_leases.h"
#include "decisions/jobs/work.h"
#include "decisions/trust/step_draw.h"

namespace weft::jobs {

namespace {

// The rows of one job after the other.
template <class Row>
class OfJobs {
 public:
  explicit OfJobs(std::vector<Row>& rows) : rows_(rows) {}

  static const TaskId& task_of(const store::Task& row) { return row.id; }
  static const TaskId& task_of(const store::Replica& row) { return row.task; }

  // The next row if it belongs to this job, else null.
  [[nodiscard]] Row* next(const JobId& job) {
    return at_ < rows_.size() && task_of(rows_[at_]).job == job ? &rows_[at_++] : nullptr;
  }
  // The first row that no job has taken.
  [[nodiscard]] const Row* rest() const { return at_ < rows_.size() ? &rows_[at_] : nullptr; }

 private:
  std::vector<Row>& rows_;
  std::size_t at_ = 0;
};

std::unexpected<Error> stray(std::string_view what, const TaskId& task) {
  return fail(ErrorCode::data_loss, "The stored {} {} belongs to no running job.", what,
              task.text());
}

Delivered delivered_of(const store::Replica& replica) {
  Delivered delivered;
  delivered.result = {.task = replica.task,
                      .attempt = replica.attempt,
                      .root = replica.root,
                      .outputs = {},
                      .gpu_seconds = replica.gpu_seconds,
                      .wall_seconds = replica.wall_seconds,
                      .step_roots = replica.steps};
  for (const auto& output : replica.outputs)
    delivered.result.outputs.push_back({.hash = output.hash, .bytes = output.bytes});
  delivered.arrived = replica.arrived;
  delivered.counted = true;
  return delivered;
}

}  // namespace

Result<> CoreParts::restore(Restored given, Moment now) {
  store::Loaded& loaded = given.rows;
  WEFT_OK(tables.accounts.restore(loaded));
  corrections.restore(loaded);
  WEFT_OK(forfeits.restore(loaded, now));
  corrections.settle();
  if (tables.settings.grants.kept_over_restart) grants.restore(given.grants_today, now.unix);
  WEFT_OK(tables.accounts.join_balances(loaded, now));
  for (const auto& reputation : loaded.reputations) {
    tables.trust.votes().restore_reputation(
        reputation.worker, {.accepted = reputation.accepted, .refused = reputation.refused});
  }
  standings.restore(loaded);
  presence.restore(loaded.presences);
  prices.restore(loaded);
  WEFT_OK(weights.restore(loaded.client_weights));
  WEFT_OK(keys.restore(loaded.api_keys));
  completion_pay.restore(given.answers, now);
  weighing.restore(loaded.weight_sums);
  loaded.keys = {};

  std::unordered_map<TaskId, std::map<std::pair<Hash, Hash>, bool>> compared;
  for (const auto& [task, a, b, agrees] : given.agreements)
    compared[task].emplace(std::minmax(a, b), agrees);

  OfJobs tasks(loaded.tasks);
  OfJobs replicas(loaded.replicas);
  tables.jobs.reserve(loaded.jobs.size());
  for (auto& row : loaded.jobs) {
    const JobId id = row.id;
    auto parsed = manifest::parse(row.manifest);
    if (!parsed)
      return fail(ErrorCode::data_loss, "The stored manifest of job {} cannot be read: {}",
                  id.text(), parsed.error().message);
    RunningJob job;
    if (row.price == 0) job.work = work_of(*parsed);  // The canary of the job has not passed.
    job.manifest = std::make_shared<const manifest::Manifest>(std::move(*parsed));
    job.row = std::move(row);
    job.row.manifest = {};
    job.accepted.resize(job.row.tasks);

    std::vector<scheduler::TaskProgress> progress;
    while (store::Task* const task = tasks.next(id)) {
      const std::uint32_t index = task->id.index;
      if (index >= job.row.tasks || job.accepted[index]) return stray("task", task->id);
      job.accepted[index] = std::make_unique<const Settled>(task->root, std::move(task->outputs));
      ++job.accepted_count;
      progress.push_back({.index = index, .settled = true, .delivered = {}});
    }
    std::vector<trust::Replica> counted;
    while (store::Replica* const replica = replicas.next(id)) {
      const std::uint32_t index = replica->task.index;
      if (index >= job.row.tasks) return stray("replica", replica->task);
      if (job.accepted[index]) continue;
      if (counted.empty() || counted.back().task != replica->task)
        progress.push_back({.index = index, .settled = false, .delivered = {}});
      progress.back().delivered.push_back(replica->worker);
      // Roots that do not belong to the groups of this version do not count: the result is checked
      // whole.
      if (replica->steps.size() + 1 != manifest::step_groups(*job.manifest)) replica->steps.clear();
      counted.push_back({.task = replica->task,
                         .worker = replica->worker,
                         .attempt = replica->attempt,
                         .root = replica->root,
                         .steps = trust::committed_steps(replica->steps, replica->root)});
      job.delivered[index].emplace(replica->worker, delivered_of(*replica));
      if (const auto known = compared.find(replica->task); known != compared.end())
        job.compared[index] = known->second;
    }

    life.begin(std::move(job), now, progress);
    for (const auto& task : progress) {
      if (task.settled) tables.trust.votes().restore_accepted({.job = id, .index = task.index});
    }
    for (const auto& replica : counted) tables.trust.votes().restore_counted(replica);
    const auto stake = [&](const PublicKey& worker) { return stakes.free_of_answers(worker); };
    const auto of_job = std::ranges::find(loaded.faults, id, &store::Faults::job);
    WEFT_ASSIGN(
        const auto made,
        tables.trust.restored(id, replica_value(tables, tables.jobs.at(id)), stake,
                              of_job == loaded.faults.end() ? ByteSpan() : ByteSpan(of_job->state),
                              now.unix));
    rulings.carry_out(made, now);
    auto* const running = tables.jobs.find(id);
    if (running == nullptr) continue;  // The job has failed, because its replicas differ.
    if (running->accepted_count == running->row.tasks) life.join(*running, now);
  }
  if (const auto* task = tasks.rest()) return stray("task", task->id);
  if (const auto* replica = replicas.rest()) return stray("replica", replica->task);
  checkpoints.restore(loaded.checkpoints);
  if (!loaded.jobs.empty())
    log_info("The running jobs continue from their stored state: {}.",
             counted(loaded.jobs.size(), "job"));
  return {};
}

}  // namespace weft::jobs
