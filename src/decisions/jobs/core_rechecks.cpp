// The paid tasks of a convicted worker, or of a suspect, of the day before are computed again by
// the coordinator's verifier: wrong ones are replaced, their jobs joined again, and their clients
// get back what the conviction took, as far as that reaches.
#include <algorithm>

#include "common/base/counted.h"
#include "common/base/format.h"
#include "common/base/log.h"
#include "decisions/jobs/core_state.h"
#include "decisions/trust/audit.h"

namespace weft::jobs {
namespace {

// The whole task in parts, as samples are: a verifier takes none that lasts too long for it.
std::vector<manifest::Range> parts_of(const PaidTask& paid) {
  constexpr std::uint32_t parts_max = 32;
  const auto whole = manifest::task_range(*paid.manifest, paid.task.index);
  if (!manifest::can_cut(*paid.manifest)) return {whole};
  const std::uint32_t parts = std::min(whole.count, parts_max);
  std::vector<manifest::Range> ranges;
  for (std::uint32_t number = 0; number < parts; ++number) {
    const auto part = trust::part_of({.first = whole.first, .count = whole.count}, parts, number);
    ranges.push_back({.first = part.first, .count = part.count});
  }
  return ranges;
}

constexpr std::string_view no_verifier =
    "The coordinator has no verifier: it runs on a machine without a device for WGSL.";
constexpr std::string_view deleted = "Its client had the job's content deleted.";
constexpr std::string_view too_many =
    "Its worker was paid for more tasks than are computed again (10,000).";

}  // namespace

void Core::State::begin_recheck(const PublicKey& worker, MicroCredits taken, Moment now) {
  if (!settings.referee.defences.newcomers_decide_nothing) return;
  suspects.convicted(worker);
  rechecks.begin(worker, now.unix);
  rechecks.took(worker, taken);
}

// Without a verifier there is no root with two devices.
void Core::State::suspect(const trust::Suspected& suspected, Moment now) {
  if (!suspects.suspect(suspected.worker, suspected.client, now.unix)) return;
  log_info("A result of {} is wrong on two devices ({}): what it was paid for is computed again.",
           suspected.worker.text(), suspected.task.text());
  if (!rechecks.begin_suspect(suspected.worker, suspected.client, now.unix))
    suspects.convicted(suspected.worker);
}

// Whose tasks are computed, whether they were right or not, makes room for those that wait.
void Core::State::go_on_suspecting(Moment now) {
  for (const auto& [worker, tasks] : rechecks.take_computed_suspects()) {
    const bool wrong = found_wrong.erase(worker) > 0;
    for (const auto& next : suspects.computed(worker, tasks, wrong, now.unix)) {
      if (!rechecks.begin_suspect(next.worker, next.client, now.unix))
        suspects.convicted(next.worker);
    }
  }
}

void Core::State::order_recheck(const PublicKey& worker,
                                const std::shared_ptr<const PaidTask>& paid) {
  if (rechecks.wait_for(worker, paid)) send_recheck(*paid);  // Else it is being computed.
}

void Core::State::send_recheck(const PaidTask& paid) {
  VerifyOrder order{.task = paid.task,
                    .manifest = paid.manifest,
                    .root = paid.root,
                    .outputs = paid.outputs,
                    .ranges = parts_of(paid),
                    .client = paid.client,
                    .rivals = {},
                    .paid = true};
  effect([this, order = std::move(order)] { parts.world.verify(order); });
}

void Core::paid_found(const PaidFound& found, Moment now) {
  State& state = *state_;
  std::vector<TaskId> tasks;
  for (const auto& each : found.tasks) {
    const TaskId& task = each.task.id;
    tasks.push_back(task);
    if (each.task.worker == PublicKey{}) {  // The coordinator's own bytes.
      // The worker was paid for the result that they replaced: its conviction pays as well.
      if (const auto wrong = state.corrections.find(task); wrong != state.corrections.end()) {
        wrong->second.owe.insert(found.worker);
        state.owed.reset();
      }
      continue;
    }
    const auto paid = std::make_shared<const PaidTask>(PaidTask{.task = task,
                                                                .client = each.client,
                                                                .manifest = each.manifest,
                                                                .root = each.task.root,
                                                                .outputs = each.task.outputs,
                                                                .price = each.paid});
    if (!each.manifest) {
      state.name_unchecked(*paid, found.worker, deleted, now);
      continue;
    }
    const bool has_room = state.rechecks.has_room(found.worker);
    if (has_room && state.parts.world.verifies()) {
      state.order_recheck(found.worker, paid);
    } else {
      state.name_unchecked(*paid, found.worker, has_room ? no_verifier : too_many, now);
    }
  }
  state.rechecks.found(found.worker, tasks);
}

void Core::rechecked(const TaskId& task, const Hash& root, const Checked& checked, Moment now) {
  State& state = *state_;
  const auto paid = state.rechecks.waiting(task);
  if (!paid || paid->root != root || state.recheck_later(task, checked, now)) return;
  const auto workers = state.rechecks.computed(task);
  const bool wrong = checked.outcome == trust::AuditOutcome::differs;
  MicroCredits refunded = 0;
  if (auto lost = state.lost_pays.extract(task); !lost.empty()) {
    for (const auto& each : lost.mapped()) {
      const MicroCredits owed = wrong ? state.owed_for(*paid) - refunded : 0;
      refunded += state.settle_lost(each, owed, now);
    }
  }
  if (workers.empty()) return;
  if (wrong) state.found_wrong.insert(workers.begin(), workers.end());
  const PublicKey worker = *workers.begin();
  state.note_check({.task = task,
                    .time = now.unix,
                    .worker = worker,
                    .root = root,
                    .by = {},
                    .kind = store::Check::Kind::recheck,
                    .outcome = outcome_of(checked.outcome),
                    .ranges = ranges_of(parts_of(*paid)),
                    .wrong = range_of(checked.wrong),
                    .reason = checked.reason});
  if (checked.outcome == trust::AuditOutcome::failed)
    return state.name_unchecked(*paid, worker, checked.reason, now);
  if (!wrong || !checked.right) return;
  // Each of them was paid for it, and each conviction pays.
  for (const PublicKey& each : workers)
    state.correct(*paid, each, *checked.right, each == worker ? refunded : 0, now);
}

void Core::State::name_unchecked(const PaidTask& paid, const PublicKey& worker,
                                 std::string_view reason, Moment now) {
  if (corrections.contains(paid.task)) return;
  log_info("The task {} of {} cannot be computed again: {}", paid.task.text(), worker.text(),
           reason);
  ++counters.tasks_unchecked;
  batch.corrections.push_back({.task = paid.task,
                               .worker = worker,
                               .client = paid.client,
                               .time = now.unix,
                               .replaced = false,
                               .was = paid.root,
                               .settled = true,
                               .reason = std::string(reason)});
}

void Core::State::correct(const PaidTask& paid, const PublicKey& worker, const Recomputed& right,
                          MicroCredits refunded, Moment now) {
  const TaskId& task = paid.task;
  if (const auto found = corrections.find(task); found != corrections.end()) {
    OpenCorrection& known = found->second;  // It is replaced already.
    known.row.refunded = std::min(known.row.refunded + refunded, known.row.due);
    known.owe.insert(worker);
    batch.corrections.push_back(known.row);
    owed.reset();
    return;
  }
  log_warning(
      "The result of {} was accepted and is wrong: it is replaced, and its client gets back "
      "what {} lost.",
      task.text(), worker.text());
  ++counters.tasks_corrected;
  batch.corrected_tasks.push_back({.id = task,
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
  if (const auto job = jobs.find(task.job); job != jobs.end()) {
    trust.traps().remove_job(task.job);  // One of them may have had this answer.
    if (!job->second.joining) {
      job->second.accepted[task.index] = std::make_unique<const Settled>(right.root, right.outputs);
      open.row.joined = true;
    }
  }
  held_pays.postpone(task, free_after_correction(open.row, now));
  batch.corrections.push_back(open.row);
  corrections.insert_or_assign(task, std::move(open));
  owed.reset();
}

// What is to be looked up; what is over.
void Core::State::go_on_rechecking(Moment now) {
  end_owed(now);
  if (rechecks.size() == 0) return;
  go_on_suspecting(now);
  for (const FindPaid& wanted : rechecks.lookups())
    effect([this, wanted] { parts.world.find_paid(wanted); });
  const auto over = rechecks.complete(now.unix);
  for (const store::Recheck& row : over) {
    for (auto& [task, open] : corrections)
      open.computed = open.computed || open.row.worker == row.worker;
    if (row.taken > 0 || is_convicted(row.worker)) refund_corrected(row, now);
    batch.rechecks.push_back({.row = row, .change = store::Change::remove});
  }
  if (!over.empty()) settle_corrections();
  for (const store::Recheck& row : rechecks.changed()) batch.rechecks.push_back({.row = row});
}

// A suspect is not, and may be so later.
bool Core::State::is_convicted(const PublicKey& worker) const {
  return trust.book().suspended(worker, unix_now);
}

// The clients of a worker that was not convicted in time are owed nothing more.
void Core::State::end_owed(Moment now) {
  constexpr auto look_every = std::chrono::minutes(1);
  if (corrections.empty() || (owed_looked && now.at - *owed_looked < look_every)) return;
  owed_looked = now.at;
  const UnixMillis since = now.unix - settings.refund_owed_for.count();
  for (auto& [task, open] : corrections) {
    if (open.computed && open.row.time <= since) open.over = true;
  }
  owed.reset();
  settle_corrections();  // Also of tasks whose pay is no longer held.
}

MicroCredits Core::State::owed_by(const OwnerId& owner) const {
  if (corrections.empty()) return 0;
  if (!owed) {
    owed.emplace();
    for (const auto& [task, open] : corrections) {
      if (open.over) continue;
      std::set<OwnerId> owners_of_it;
      for (const PublicKey& worker : open.owe) owners_of_it.insert(owner_of(worker));
      for (const OwnerId& each : owners_of_it) (*owed)[each] += open.row.due - open.row.refunded;
    }
  }
  const auto found = owed->find(owner);
  return found == owed->end() ? 0 : found->second;
}

// Everything that the worker was paid for is known: the clients of wrong tasks share what its
// conviction took, then what is left of its owner's stake. Beyond that the verification account
// gives no more than it got of their prices: a client whose own worker is wrong, and which keeps
// what it was paid, would take others' money otherwise.
void Core::State::refund_corrected(const store::Recheck& row, Moment now) {
  MicroCredits due = 0;
  MicroCredits fees = 0;
  std::vector<OpenCorrection*> of_worker;
  for (auto& [task, open] : corrections) {
    if (open.over || open.owe.erase(row.worker) == 0) continue;
    due += open.row.due - open.row.refunded;
    of_worker.push_back(&open);
    // Given once, with the first conviction, also if that was before a restart.
    const bool was_given =
        open.fee_given || (open.row.worker != row.worker && is_convicted(open.row.worker) &&
                           !rechecks.contains(open.row.worker));
    open.fee_given = true;
    if (was_given) continue;
    fees += open.row.due / 1000 * settings.verification_permille +
            open.row.due % 1000 * settings.verification_permille / 1000;
  }
  owed.reset();
  const OwnerId owner = owner_of(row.worker);
  const MicroCredits accounts = ledger.platform().total() + ledger.verification().total();
  const MicroCredits taken = std::min({row.taken, accounts, due});
  MicroCredits stake = settings.refunds_from_stake
                           ? std::min(ledger.balance(ledger::Account::stake(owner)), due - taken)
                           : 0;
  const MicroCredits fee = std::min({fees, accounts - taken, due - taken - stake});
  const MicroCredits all = taken + stake + fee;
  for (OpenCorrection* open : of_worker) {
    const MicroCredits part = refund_of(open->row.due - open->row.refunded, due, all);
    if (part <= 0) continue;
    const MicroCredits of_stake = std::min(part, stake);
    const MicroCredits of_accounts = part - of_stake;
    const MicroCredits from_platform = std::min(of_accounts, ledger.platform().total());
    auto transaction = ledger::refund_wrong(
        {.task = open->row.task,
         .time = open->row.time,
         .client = owner_of(open->row.client),
         .platform = ledger::granted_first(ledger.platform(), from_platform),
         .verification = ledger::granted_first(ledger.verification(), of_accounts - from_platform),
         .worker = owner,
         .stake = of_stake});
    transaction.key += ":" + row.worker.text();
    if (const auto moved = move_money(std::move(transaction), now);
        !moved || *moved != ledger::Applied::now) {
      log_error("The client of {} cannot be refunded: {}", open->row.task.text(),
                moved ? "it was before." : moved.error().message);
      continue;
    }
    open->row.refunded += part;
    batch.corrections.push_back(open->row);
    stake -= of_stake;
  }
}

// What was refunded is kept as long as anything can be refunded once more: a client gets no more
// than what it paid, over all convictions of workers that agreed on the result.
bool Core::State::may_be_refunded(const TaskId& task, const OpenCorrection& open) const {
  const bool is_owed = !open.over && open.row.refunded < open.row.due;
  return is_owed || held_pays.holds_for(task) || lost_pays.contains(task) ||
         rechecks.waiting(task) || rechecks.looks_up();
}

// Jobs that ended with wrong results are joined again, once all of a worker's are known; what is
// settled is no longer kept here.
void Core::State::settle_corrections() {
  for (auto each = corrections.begin(); each != corrections.end();) {
    OpenCorrection& open = each->second;
    const JobId& job = each->first.job;
    if (!open.computed) {
      ++each;
      continue;
    }
    if (!open.row.joined) {
      if (!jobs.contains(job) && joining_again.insert(job).second)
        effect([this, job] { parts.world.join_again(job); });
    } else if (!may_be_refunded(each->first, open)) {
      open.row.settled = true;
      batch.corrections.push_back(open.row);
      each = corrections.erase(each);
      continue;
    }
    ++each;
  }
}

void Core::joined_again(const JobId& id, const Result<JoinedAgain>& joined, Moment now) {
  State& state = *state_;
  state.joining_again.erase(id);
  std::uint32_t replaced = 0;
  for (auto each = state.corrections.lower_bound({.job = id, .index = 0});
       each != state.corrections.end() && each->first.job == id; ++each) {
    store::Correction& row = each->second.row;
    if (row.joined) continue;
    row.joined = true;
    if (!joined) row.reason = "The job's outputs cannot be joined again: " + joined.error().message;
    state.batch.corrections.push_back(row);
    ++replaced;
  }
  if (!joined) {
    log_error("The job {} cannot be joined again: {}", id.text(), joined.error().message);
    return state.settle_corrections();
  }
  const store::Job& row = joined->job;
  if (store::has_results(row.state)) {
    log_warning("Job {} is corrected: {} of a convicted or suspected worker {} wrong.", id.text(),
                counted(replaced, "result"), replaced == 1 ? "was" : "were");
    ++state.counters.jobs_corrected;
    state.batch.job_updates.push_back(
        {.id = id,
         .price = {},
         .end = store::JobUpdate::End{.state = store::JobState::corrected,
                                      .reason = row.reason,
                                      .root = joined->root,
                                      .outputs = joined->outputs,
                                      .ended = row.ended}});
    state.tell_corrected(row);
  }
  state.settle_corrections();
  static_cast<void>(now);
}

// Watchers see the job once more, with its new state.
void Core::State::tell_corrected(const store::Job& row) {
  protocol::watch::Job head;
  head.id = row.id.text();
  head.state = std::string(to_string(store::JobState::corrected));
  head.tasks = row.tasks;
  head.counts = {0, 0, 0, row.accepted, 0};
  head.price = row.price;
  head.units = row.units;
  head.created = row.created;
  head.ended = row.ended;
  board.corrected(row.id, std::move(head));
}

void Core::State::restore_rechecks(const store::Loaded& loaded) {
  for (const store::Recheck& row : loaded.rechecks) rechecks.restore(row);
  std::set<JobId> running;
  for (const store::Job& row : loaded.jobs) running.insert(row.id);
  for (store::Correction row : loaded.corrections) {
    // A running job takes the right result up with its tasks.
    row.joined = row.joined || running.contains(row.task.job);
    const bool computed = !rechecks.contains(row.worker);
    const TaskId task = row.task;
    const PublicKey worker = row.worker;
    corrections.insert_or_assign(
        task, OpenCorrection{.row = std::move(row), .computed = computed, .owe = {worker}});
  }
}

}  // namespace weft::jobs
