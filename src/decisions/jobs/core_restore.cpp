// What was stored becomes the running state again. Loaded's tasks and replicas stand in the order
// of its jobs, so one walk over the three of them is enough; what is not needed any more is let go
// on the way.
#include <algorithm>
#include <utility>

#include "common/base/counted.h"
#include "common/base/log.h"
#include "decisions/jobs/core_state.h"
#include "decisions/jobs/work.h"

namespace weft::jobs {

namespace {

// The rows of one job after the other.
template <class Row>
class OfJobs {
 public:
  explicit OfJobs(std::vector<Row>& rows) : rows_(rows) {}

  static const TaskId& task_of(const store::Task& row) { return row.id; }
  static const TaskId& task_of(const store::Replica& row) { return row.task; }

  // The next row where it is this job's; null: there is none.
  [[nodiscard]] Row* next(const JobId& job) {
    return at_ < rows_.size() && task_of(rows_[at_]).job == job ? &rows_[at_++] : nullptr;
  }
  // The first that no job has taken.
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
                      .wall_seconds = replica.wall_seconds};
  for (const auto& output : replica.outputs)
    delivered.result.outputs.push_back({.hash = output.hash, .bytes = output.bytes});
  delivered.arrived = replica.arrived;
  delivered.counted = true;
  return delivered;
}

}  // namespace

Result<> Core::restore(Restored given, Moment now) {
  State& state = *state_;
  store::Loaded& loaded = given.rows;
  WEFT_OK(state.owners.restore(loaded.devices));
  for (const store::Device& device : loaded.devices) state.parts.book.set_device(device);
  if (auto restored = state.ledger.restore(loaded.balances, loaded.keys); !restored)
    return pass(std::move(restored), "while restoring the ledger");
  state.restore_rechecks(loaded);
  WEFT_OK(state.restore_held_pay(loaded, now));
  state.settle_corrections();
  if (state.settings.grants.kept_over_restart)
    state.grant_bounds.restore(given.grants_today, now.unix);
  // What wallets earned as workers before an owner had one balance (all of it free credits, as
  // nothing told grants apart).
  for (const auto& entry : loaded.balances) {
    if (entry.account.kind != ledger::Account::Kind::worker || entry.amount <= 0) continue;
    const OwnerId owner{{entry.account.id}};
    if (auto moved = state.move_money({.key = "one-balance:" + owner.text(),
                                       .job = {},
                                       .entries = {{entry.account, -entry.amount},
                                                   {ledger::Account::owner(owner), entry.amount}},
                                       .what = "puts what was earned to what can be spent"},
                                      now);
        !moved)
      return pass(std::move(moved), "while giving each owner one balance");
  }
  for (const auto& entry : loaded.balances) {
    if (ledger::has_owner(entry.account.kind)) state.note_balances(OwnerId{{entry.account.id}});
  }
  for (const auto& reputation : loaded.reputations) {
    state.trust.votes().restore_reputation(
        reputation.worker, {.accepted = reputation.accepted, .refused = reputation.refused});
  }
  state.restore_standings(loaded);
  state.restore_presence(loaded.presences);
  state.restore_prices(loaded);
  WEFT_OK(state.restore_weights(loaded.client_weights));
  WEFT_OK(state.restore_answers(given, now));
  loaded.keys = {};

  std::unordered_map<TaskId, std::map<std::pair<Hash, Hash>, bool>> compared;
  for (const auto& [task, a, b, agrees] : given.agreements)
    compared[task].emplace(std::minmax(a, b), agrees);

  OfJobs tasks(loaded.tasks);
  OfJobs replicas(loaded.replicas);
  state.jobs.reserve(loaded.jobs.size());
  for (auto& row : loaded.jobs) {
    const JobId id = row.id;
    auto parsed = manifest::parse(row.manifest);
    if (!parsed)
      return fail(ErrorCode::data_loss, "The stored manifest of job {} is not one: {}", id.text(),
                  parsed.error().message);
    RunningJob job;
    if (row.price == 0) job.work = work_of(*parsed);  // Its canary has not passed.
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
      counted.push_back({.task = replica->task,
                         .worker = replica->worker,
                         .attempt = replica->attempt,
                         .root = replica->root});
      job.delivered[index].emplace(replica->worker, delivered_of(*replica));
      if (const auto known = compared.find(replica->task); known != compared.end())
        job.compared[index] = known->second;
    }

    state.add_running(std::move(job), now, progress);
    for (const auto& task : progress) {
      if (task.settled) state.trust.votes().restore_accepted({.job = id, .index = task.index});
    }
    for (const auto& replica : counted) state.trust.votes().restore_counted(replica);
    const auto stake = [&](const PublicKey& worker) { return state.free_of_answers(worker); };
    state.act(state.trust.restored(id, state.replica_value(state.jobs.at(id)), stake, now.unix),
              now);
    const auto running = state.jobs.find(id);
    if (running == state.jobs.end()) continue;  // Its replicas differed permanently.
    if (running->second.accepted_count == running->second.row.tasks)
      state.start_join(running->second, now);
  }
  if (const auto* task = tasks.rest()) return stray("task", task->id);
  if (const auto* replica = replicas.rest()) return stray("replica", replica->task);
  state.restore_checkpoints(loaded.checkpoints);
  if (!loaded.jobs.empty())
    log_info("{} {} on where {}.", counted(loaded.jobs.size(), "job"),
             loaded.jobs.size() == 1 ? "goes" : "go",
             loaded.jobs.size() == 1 ? "it was" : "they were");
  return {};
}

}  // namespace weft::jobs
