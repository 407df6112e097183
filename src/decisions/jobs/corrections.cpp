#include "decisions/jobs/corrections.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/base/counted.h"
#include "common/base/log.h"
#include "decisions/jobs/check_rows.h"
#include "decisions/jobs/recheck_orders.h"

namespace weft::jobs {

namespace {

constexpr std::string_view no_verifier =
    "The coordinator has no verifier: it runs on a machine without a device for WGSL.";
constexpr std::string_view deleted = "The client had the job's content deleted.";
constexpr std::string_view too_many =
    "The worker was paid for more tasks than are computed again (10,000).";
// The tries take a quarter of an hour. No other verifier checks a paid task.
constexpr std::uint32_t tries_max = 8;

}  // namespace

void Corrections::restore(const store::Loaded& loaded) {
  for (const store::Recheck& row : loaded.rechecks) paid_.rechecks.restore(row);
  std::set<JobId> running;
  for (const store::Job& row : loaded.jobs) running.insert(row.id);
  for (store::Correction row : loaded.corrections) {
    // A running job takes the right result from its tasks.
    row.joined = row.joined || running.contains(row.task.job);
    const bool computed = !paid_.rechecks.contains(row.worker);
    const PublicKey worker = row.worker;
    paid_.corrections.put({.row = std::move(row), .computed = computed, .owe = {worker}});
  }
}

void Corrections::convicted(const PublicKey& worker, MicroCredits taken, Moment now) {
  if (!tables_.settings.referee.defences.newcomers_decide_nothing) return;
  suspects_.convicted(worker);
  paid_.rechecks.begin(worker, now.unix);
  paid_.rechecks.took(worker, taken);
}

// Begins the recheck of a suspect. A verifier is there, because only a root with two devices makes
// a suspect, and without a verifier no root has two devices.
void Corrections::suspect(const trust::Suspected& suspected, Moment now) {
  if (!suspects_.suspect(suspected.worker, suspected.client, now.unix)) return;
  log_info(
      "A result of the worker {} is wrong on two devices (task {}): the tasks that the worker was "
      "paid for are computed again.",
      suspected.worker.text(), suspected.task.text());
  if (!paid_.rechecks.begin_suspect(suspected.worker, suspected.client, now.unix))
    suspects_.convicted(suspected.worker);
}

// A suspect whose tasks are all computed, right or wrong, makes room for waiting suspects.
void Corrections::go_on_suspecting(Moment now) {
  for (const auto& [worker, tasks] : paid_.rechecks.take_computed_suspects()) {
    const bool wrong = found_wrong_.erase(worker) > 0;
    for (const auto& next : suspects_.computed(worker, tasks, wrong, now.unix)) {
      if (!paid_.rechecks.begin_suspect(next.worker, next.client, now.unix))
        suspects_.convicted(next.worker);
    }
  }
}

void Corrections::paid_found(const PaidFound& found, Moment now) {
  std::vector<TaskId> tasks;
  for (const auto& each : found.tasks) {
    const TaskId& task = each.task.id;
    tasks.push_back(task);
    // The result is the coordinator's own, which no worker gave.
    if (each.task.worker == PublicKey{}) {
      // The worker was paid for the result that the coordinator's bytes replaced: its conviction
      // pays as well.
      if (OpenCorrection* const wrong = paid_.corrections.change(task); wrong != nullptr)
        wrong->owe.insert(found.worker);
      continue;
    }
    const auto paid = std::make_shared<const PaidTask>(PaidTask{.task = task,
                                                                .client = each.client,
                                                                .manifest = each.manifest,
                                                                .root = each.task.root,
                                                                .outputs = each.task.outputs,
                                                                .price = each.paid});
    if (!each.manifest) {
      name_unchecked(*paid, found.worker, deleted, now);
      continue;
    }
    const bool has_room = paid_.rechecks.has_room(found.worker);
    if (has_room && tables_.world.verifies()) {
      order_recheck(tables_, paid_.rechecks, found.worker, paid);
    } else {
      name_unchecked(*paid, found.worker, has_room ? no_verifier : too_many, now);
    }
  }
  paid_.rechecks.found(found.worker, tasks);
}

void Corrections::rechecked(const TaskId& task, const Hash& root, const Checked& checked,
                            Moment now) {
  const auto paid = paid_.rechecks.waiting(task);
  if (!paid || paid->root != root || is_late(task, checked, now)) return;
  const auto workers = paid_.rechecks.computed(task);
  const bool wrong = checked.outcome == trust::AuditOutcome::differs;
  const MicroCredits refunded = forfeits_.computed(*paid, wrong, now);
  if (workers.empty()) return;
  if (wrong) found_wrong_.insert(workers.begin(), workers.end());
  const PublicKey worker = *workers.begin();
  tables_.outbox.batch().checks.push_back({.task = task,
                                           .time = now.unix,
                                           .worker = worker,
                                           .root = root,
                                           .by = {},
                                           .kind = store::Check::Kind::recheck,
                                           .outcome = outcome_of(checked.outcome),
                                           .ranges = ranges_of(recheck_parts(*paid)),
                                           .wrong = range_of(checked.wrong),
                                           .reason = checked.reason});
  if (checked.outcome == trust::AuditOutcome::failed)
    return name_unchecked(*paid, worker, checked.reason, now);
  if (!wrong || !checked.right) return;
  // Every worker that was paid for the wrong result owes its refund, which its conviction pays.
  for (const PublicKey& each : workers)
    correct(*paid, each, *checked.right, each == worker ? refunded : 0, now);
}

bool Corrections::is_late(const TaskId& task, const Checked& checked, Moment now) {
  if (checked.outcome == trust::AuditOutcome::failed && checked.late) {
    trust::LateCheck& late = late_[task];
    late.ran_out(checked.reason, now.at);
    if (late.tries() < tries_max) return true;
  }
  late_.erase(task);
  return false;
}

void Corrections::ask_again(Moment now) {
  for (auto& [task, late] : late_) {
    if (!late.take_due(now.at)) continue;
    if (const auto paid = paid_.rechecks.waiting(task))
      order_recheck(tables_, *paid, late.has_patience());
  }
}

std::optional<Instant> Corrections::deadline() const {
  std::optional<Instant> next;
  for (const auto& [task, late] : late_) {
    if (late.waits()) next = next ? std::min(*next, late.next()) : late.next();
  }
  return next;
}

void Corrections::name_unchecked(const PaidTask& paid, const PublicKey& worker,
                                 std::string_view reason, Moment now) {
  if (paid_.corrections.contains(paid.task)) return;
  log_info("The task {} of {} cannot be computed again: {}", paid.task.text(), worker.text(),
           reason);
  ++tables_.counters.tasks_unchecked;
  tables_.outbox.batch().corrections.push_back({.task = paid.task,
                                                .worker = worker,
                                                .client = paid.client,
                                                .time = now.unix,
                                                .replaced = false,
                                                .was = paid.root,
                                                .settled = true,
                                                .reason = std::string(reason)});
}

void Corrections::correct(const PaidTask& paid, const PublicKey& worker, const Recomputed& right,
                          MicroCredits refunded, Moment now) {
  const TaskId& task = paid.task;
  if (OpenCorrection* const known = paid_.corrections.change(task); known != nullptr) {
    // The result was replaced before. Pay that a conviction takes for such a task goes to its
    // client at once (Forfeits), so that none of it is refunded here.
    known->owe.insert(worker);
    return;
  }
  log_warning(
      "The accepted result of task {} is wrong: it is replaced, and the client gets back the pay "
      "of {}.",
      task.text(), worker.text());
  ++tables_.counters.tasks_corrected;
  tables_.outbox.batch().corrected_tasks.push_back({.id = task,
                                                    .root = right.root,
                                                    .outputs = right.outputs,
                                                    .worker = {},
                                                    .agreeing = {},
                                                    .basis = store::Basis::corrected});
  OpenCorrection open{.row = {.task = task,
                              .worker = worker,
                              .client = paid.client,
                              .time = now.unix,
                              .replaced = true,
                              .was = paid.root,
                              .due = paid.price,
                              .refunded = std::min(refunded, paid.price),
                              .reason = {}},
                      .owe = {worker}};
  if (auto* const job = tables_.jobs.find(task.job); job != nullptr) {
    tables_.trust.traps().remove_job(task.job);  // A trap of the job may expect a wrong result.
    if (!job->joining) {
      job->accepted[task.index] = std::make_unique<const Settled>(right.root, right.outputs);
      open.row.joined = true;
    }
  }
  paid_.held.postpone(task, held_.free_after_correction(open.row, now));
  tables_.outbox.batch().corrections.push_back(open.row);
  paid_.corrections.put(std::move(open));
}

void Corrections::go_on(Moment now) {
  end_owed(now);
  if (paid_.rechecks.size() == 0) return;
  go_on_suspecting(now);
  for (const FindPaid& wanted : paid_.rechecks.lookups())
    tables_.outbox.effect([this, wanted] { tables_.world.find_paid(wanted); });
  const auto over = paid_.rechecks.complete(now.unix);
  for (const store::Recheck& row : over) {
    for (auto& [task, open] : paid_.corrections.change_all())
      open.computed = open.computed || open.row.worker == row.worker;
    if (row.taken > 0 || is_convicted(tables_, row.worker)) refunds_.refund(row, now);
    tables_.outbox.batch().rechecks.push_back({.row = row, .change = store::Change::remove});
  }
  if (!over.empty()) settle();
  for (const store::Recheck& row : paid_.rechecks.changed())
    tables_.outbox.batch().rechecks.push_back({.row = row});
}

void Corrections::end_owed(Moment now) {
  constexpr auto look_every = std::chrono::minutes(1);
  if (paid_.corrections.all().empty() || (owed_looked_ && now.at - *owed_looked_ < look_every))
    return;
  owed_looked_ = now.at;
  const UnixMillis since = now.unix - tables_.settings.refund_owed_for.count();
  for (auto& [task, open] : paid_.corrections.change_all()) {
    if (open.computed && open.row.time <= since) open.over = true;
  }
  settle();  // Refunds are settled also for tasks whose pay is no longer held.
}

void Corrections::settle() {
  OpenCorrections::Rows& rows = paid_.corrections.change_all();
  for (auto each = rows.begin(); each != rows.end();) {
    OpenCorrection& open = each->second;
    const JobId& job = each->first.job;
    if (!open.computed) {
      ++each;
      continue;
    }
    if (!open.row.joined) {
      if (!tables_.jobs.contains(job) && joining_again_.insert(job).second)
        tables_.outbox.effect([this, job] { tables_.world.join_again(job); });
    } else if (!paid_.may_be_refunded(each->first, open)) {
      open.row.settled = true;
      tables_.outbox.batch().corrections.push_back(open.row);
      each = rows.erase(each);
      continue;
    }
    ++each;
  }
}

void Corrections::joined_again(const JobId& id, const Result<JoinedAgain>& joined) {
  joining_again_.erase(id);
  std::uint32_t replaced = 0;
  OpenCorrections::Rows& rows = paid_.corrections.change_all();
  for (auto each = rows.lower_bound({.job = id, .index = 0});
       each != rows.end() && each->first.job == id; ++each) {
    store::Correction& row = each->second.row;
    if (row.joined) continue;
    row.joined = true;
    if (!joined) row.reason = "The job's outputs cannot be joined again: " + joined.error().message;
    tables_.outbox.batch().corrections.push_back(row);
    ++replaced;
  }
  if (!joined) {
    log_error("The job {} cannot be joined again: {}", id.text(), joined.error().message);
    return settle();
  }
  const store::Job& row = joined->job;
  if (store::has_results(row.state)) {
    log_warning("Job {} is corrected: {} of a convicted or suspected worker {} wrong.", id.text(),
                counted(replaced, "result"), replaced == 1 ? "was" : "were");
    ++tables_.counters.jobs_corrected;
    tables_.outbox.batch().job_updates.push_back(
        {.id = id,
         .price = {},
         .end = store::JobUpdate::End{.state = store::JobState::corrected,
                                      .reason = row.reason,
                                      .root = joined->root,
                                      .outputs = joined->outputs,
                                      .ended = row.ended}});
    watch_.corrected(row);
  }
  settle();
}

bool Corrections::may_take_all(const PublicKey& worker) const {
  return paid_.rechecks.contains(worker) && is_convicted(tables_, worker);
}

bool Corrections::may_correct_for(const PublicKey& client) const {
  return paid_.lost.waits_for_client(client) || paid_.corrections.waits_for_client(client) ||
         paid_.rechecks.waits_for_client(client) || paid_.held.holds_for(client);
}

}  // namespace weft::jobs
