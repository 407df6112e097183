#include "decisions/jobs/ruling_executor.h"

#include <map>
#include <string>
#include <utility>
#include <variant>

#include "common/base/check.h"
#include "common/base/log.h"
#include "common/base/match.h"
#include "decisions/jobs/audits.h"
#include "decisions/jobs/check_rows.h"

namespace weft::jobs {

namespace {

constexpr std::uint32_t newcomer_slots_max = 1024;

}  // namespace

void RulingExecutor::carry_out(const std::vector<trust::Ruling>& rulings, Moment now) {
  for (const auto& ruling : rulings) carry_out_one(ruling, now);
  parts_.convictions.pay_juries(now);
  // Jobs are joined after all rulings, so that the stakes that a dispute took compensate the client
  // while the job still exists.
  for (const JobId& id : std::exchange(complete_, {})) {
    if (auto* const job = tables_.jobs.find(id); job != nullptr) parts_.life.join(*job, now);
  }
}

void RulingExecutor::carry_out_one(const trust::Ruling& ruling, Moment now) {
  std::visit(
      Match{[&](const trust::Counted& counted) { count(counted, now); },
            [&](const trust::Accepted& accepted) { accept(accepted, now); },
            [&](const trust::Refused& refused) { turn_down(refused, now); },
            [&](const trust::NeedReplicas& need) {
              tables_.scheduler.want_replicas(need.task, need.replicas);
            },
            [&](const trust::AuditWanted& wanted) { parts_.audits.start(wanted, now); },
            [&](const trust::Convicted& convicted) { parts_.convictions.convict(convicted, now); },
            [&](const trust::PollWanted& wanted) { parts_.polls.start(wanted, now); },
            [&](const trust::Suspected& suspected) { parts_.corrections.suspect(suspected, now); },
            [&](const trust::JobFailed& failure) {
              if (failure.irreproducible)
                return parts_.life.end_irreproducible(failure.job, failure.reason, now);
              parts_.life.fail_with(failure.job, failure.reason, now);
            }},
      ruling);
}

void RulingExecutor::count(const trust::Counted& counted, Moment now) {
  auto* const job = tables_.jobs.find(counted.task.job);
  if (job == nullptr) return;
  auto& of_task = job->delivered[counted.task.index];
  const auto found = of_task.find(counted.worker);
  check(found != of_task.end(), "what counts was delivered");
  Delivered& delivered = found->second;
  delivered.counted = true;
  store::Replica row{.task = counted.task,
                     .worker = counted.worker,
                     .attempt = counted.attempt,
                     .root = delivered.result.root,
                     .outputs = blobs_of(delivered.result),
                     .receipt = {},
                     .gpu_seconds = delivered.result.gpu_seconds,
                     .wall_seconds = delivered.result.wall_seconds,
                     .arrived = delivered.arrived,
                     .steps = delivered.result.step_roots};
  if (auto* const worker = tables_.workers.find(counted.worker); worker != nullptr) {
    if (const auto covering = worker->coverings.take({counted.task, counted.attempt})) {
      row.receipt = covering->receipt.digest;
      if (!std::exchange(covering->stored, true)) store_receipt(*covering);
    }
  }
  tables_.outbox.batch().replicas.push_back(std::move(row));
  ++tables_.counters.replicas_counted;
  tables_.scheduler.counted(counted.task, counted.worker);
  if (auto* const worker = tables_.workers.find(counted.worker);
      worker != nullptr &&
      tables_.trust.standing().leases_max(counted.worker, now.unix) <= newcomer_slots_max) {
    worker->undecided.insert(counted.task);
    parts_.sessions.refresh(counted.worker, now);
  }
}

// Stores the signed text too, so that others can check the receipt later without the coordinator.
void RulingExecutor::store_receipt(Covering& covering) {
  tables_.world.keep(std::exchange(covering.statement, {}));
  tables_.world.keep(std::exchange(covering.claims, {}));
  tables_.outbox.batch().receipts.push_back(covering.receipt);
}

void RulingExecutor::accept(const trust::Accepted& accepted, Moment now) {
  auto* const found = tables_.jobs.find(accepted.task.job);
  if (found == nullptr) return;
  RunningJob& job = *found;
  const std::uint32_t index = accepted.task.index;
  const auto delivered = std::move(job.delivered[index]);
  const auto delivery_of = [&](const PublicKey& worker) -> const protocol::TaskResult& {
    const auto theirs = delivered.find(worker);
    check(theirs != delivered.end(), "who agrees has delivered");
    return theirs->second.result;
  };
  store::Task row{.id = accepted.task,
                  .root = accepted.root,
                  .outputs = blobs_of(delivery_of(accepted.worker)),
                  .worker = accepted.worker,
                  .agreeing = accepted.agreeing,
                  .accepted = now.unix,
                  .basis = basis_of(tables_, job, accepted, now.unix)};
  tables_.jobs.accept(job, index, {.root = row.root, .outputs = row.outputs});
  tables_.outbox.batch().tasks.push_back(std::move(row));
  ++tables_.counters.tasks_accepted;
  const TaskPayments::Paid paid = parts_.payments.pay(job, index, accepted.agreeing, now);
  for (const auto& worker : accepted.agreeing) {
    store_reputation(worker);
    tables_.send_verdict(accepted.task, delivery_of(worker).attempt, worker, paid.each,
                         paid.each > 0 ? parts_.held.why_held(worker) : std::string());
  }
  answer_checkers(job, accepted, delivered, paid);
  job.delivered.erase(index);
  job.leased.erase(index);
  job.roots_asked.erase(index);
  parts_.checkpoints.forget(accepted.task);
  parts_.watch.accepted(job, index, paid.each * static_cast<MicroCredits>(accepted.agreeing.size()),
                        now);
  std::vector<PublicKey> right = accepted.agreeing;
  right.insert(right.end(), accepted.jurors.begin(), accepted.jurors.end());
  tables_.scheduler.settled(accepted.task, right);
  for (const auto& [worker, its] : delivered) parts_.sessions.decided(accepted.task, worker, now);
  if (job.accepted_count == job.row.tasks) complete_.push_back(job.row.id);
}

void RulingExecutor::answer_checkers(RunningJob& job, const trust::Accepted& accepted,
                                     const std::map<PublicKey, Delivered>& delivered,
                                     const TaskPayments::Paid& paid) {
  Jury jury{.task = accepted.task, .members = {}};
  for (const auto& worker : accepted.jurors) {
    store_reputation(worker);
    jury.members.push_back(
        {.worker = worker, .attempt = delivered.at(worker).result.attempt, .pay = paid.each});
  }
  for (const auto& [key, share, accuser] : job.auditors[accepted.task.index]) {
    if (accuser) {
      jury.members.push_back(
          {.worker = key,
           .attempt = extra_attempt,
           .pay = static_cast<MicroCredits>(static_cast<double>(paid.each) * share)});
    } else {
      const auto its = paid.auditors.find(key);
      tables_.send_verdict(accepted.task, extra_attempt, key,
                           its == paid.auditors.end() ? 0 : its->second, {});
    }
  }
  job.auditors.erase(accepted.task.index);
  parts_.convictions.add_jury(std::move(jury));
}

void RulingExecutor::turn_down(const trust::Refused& refused, Moment now) {
  ++tables_.counters.results_refused;
  parts_.watch.refused(refused.task);
  log_warning("The result of {} for {} is refused: {}", refused.worker.text(), refused.task.text(),
              refused.reason);
  // The result's lease, if there still is one, ends without a result. A counted result has no
  // lease.
  (void)tables_.scheduler.failed(refused.task, refused.worker, refused.attempt,
                                 {ErrorCode::data_loss, refused.reason}, now.at);
  if (refused.wrong && tables_.settings.referee.defences.newcomers_decide_nothing)
    tables_.scheduler.bar(refused.task, refused.worker);
  parts_.sessions.decided(refused.task, refused.worker, now);
  store_reputation(refused.worker);
  tables_.send_verdict(refused.task, refused.attempt, refused.worker, std::nullopt, refused.reason);
}

void RulingExecutor::store_reputation(const PublicKey& worker) {
  const auto reputation = tables_.trust.votes().reputation(worker);
  tables_.outbox.batch().reputations.push_back(
      {.worker = worker, .accepted = reputation.accepted, .refused = reputation.refused});
}

}  // namespace weft::jobs
