#include "decisions/jobs/result_intake.h"

#include <chrono>
#include <utility>
#include <vector>

#include "common/base/log.h"
#include "decisions/jobs/state_room.h"
#include "decisions/trust/step_draw.h"

namespace weft::jobs {

void ResultIntake::deliver(const Delivery& delivery, Moment now) {
  auto* worker = tables_.workers.of_session(delivery.session);
  if (worker == nullptr) return;
  const auto& result = delivery.result;
  const PublicKey key = worker->hello.key;
  tables_.scheduler.heard(key, now.at);
  if (parts_.checks.result(key, result, now)) return;
  const auto taken =
      tables_.scheduler.result({.task = result.task,
                                .worker = key,
                                .attempt = result.attempt,
                                .gpu_seconds = result.gpu_seconds,
                                .resumed = parts_.checkpoints.resumed_share(result, key)},
                               now.at);
  auto* const job = tables_.jobs.find(result.task.job);
  if (!taken || job == nullptr) {
    ++tables_.counters.results_refused;
    return tables_.send_verdict(result.task, result.attempt, key, std::nullopt,
                                taken ? "The job has ended." : taken.error().message);
  }
  job->leased[result.task.index].erase(key);
  Delivered delivered{.result = result, .arrived = now.unix};
  if (!asks_for_roots(*job, result.task.index, key, result.attempt) ||
      result.step_roots.size() + 1 != checked_groups(*job->manifest).all)
    delivered.result.step_roots.clear();
  const trust::Replica replica{
      .task = result.task,
      .worker = key,
      .attempt = result.attempt,
      .root = result.root,
      .steps = trust::committed_steps(delivered.result.step_roots, result.root)};
  job->delivered[result.task.index].insert_or_assign(key, std::move(delivered));
  tables_.board.touch(result.task);
  if (parts_.comparisons.compare_first(*job, key, result)) {
    constexpr auto compared_after_max = std::chrono::minutes(10);
    return tables_.scheduler.awaits_receipt_from(result.task, key, now.at + compared_after_max);
  }
  parts_.rulings.carry_out(tables_.trust.add_result(replica, now.unix), now);
}

void ResultIntake::receipt(CoveringReceipt receipt, Moment now) {
  auto* worker = tables_.workers.of_session(receipt.session);
  if (worker == nullptr) return;
  const PublicKey key = worker->hello.key;
  tables_.scheduler.heard(key, now.at);
  // A receipt from before this process began is processed too, so that the next one is compared
  // with it.
  const bool is_earlier = receipt.receipt.arrived != 0;
  if (!is_earlier) receipt.receipt.arrived = now.unix;
  if (const auto task = parts_.signing.note(key, receipt, is_earlier, now))
    return end_contradicting(key, *task, now);
  if (is_earlier) return;
  std::vector<trust::Claim> claims;
  std::vector<Coverings::Attempt> attempts;
  for (const auto& item : receipt.items) {
    auto* const job = tables_.jobs.find(item.task.job);
    if (job == nullptr || item.task.index >= job->row.tasks || job->accepted[item.task.index])
      continue;
    claims.push_back({.task = item.task, .attempt = item.attempt, .root = item.root});
    attempts.emplace_back(item.task, item.attempt);
  }
  // Attempts whose receipt is dropped for lack of room count once a new receipt arrives.
  for (const auto& [task, attempt] :
       worker->coverings.add({.receipt = receipt.receipt,
                              .statement = std::move(receipt.statement),
                              .claims = std::move(receipt.claims)},
                             attempts))
    tables_.trust.votes().forget_claim(key, task, attempt);
  for (const auto& item : receipt.items) parts_.checks.claim(key, item, now);
  parts_.rulings.carry_out(tables_.trust.add_receipt(key, claims, now.unix), now);
}

void ResultIntake::failed(SessionId session, const protocol::TaskFailed& failure, Moment now) {
  auto* worker = tables_.workers.of_session(session);
  if (worker == nullptr) return;
  const PublicKey key = worker->hello.key;
  tables_.scheduler.heard(key, now.at);
  log_info("Task {} fails on {}: {}", failure.task.text(), key.text(), failure.message);
  if (parts_.checks.failed(key, failure.task, failure.attempt, now)) return;
  const auto taken = tables_.scheduler.failed(
      failure.task, key, failure.attempt, {error_code_from(failure.code), failure.message}, now.at);
  if (!taken) log_debug("{}", taken.error().message);
  auto* const job = tables_.jobs.find(failure.task.job);
  if (taken && job != nullptr) job->leased[failure.task.index].erase(key);
  tables_.board.touch(failure.task);
}

void ResultIntake::refuse(SessionId session, const protocol::HeldTask& task, const Error& why,
                          Moment now) {
  auto* worker = tables_.workers.of_session(session);
  if (worker == nullptr) return;
  const PublicKey key = worker->hello.key;
  tables_.scheduler.heard(key, now.at);
  ++tables_.counters.results_refused;
  log_warning("The result of {} for {} is refused: {}", key.text(), task.task.text(), why.message);
  if (parts_.checks.failed(key, task.task, task.attempt, now))
    return tables_.send_verdict(task.task, task.attempt, key, std::nullopt, why.message);
  const auto held = tables_.scheduler.failed(task.task, key, task.attempt,
                                             {ErrorCode::data_loss, why.message}, now.at);
  if (held) parts_.watch.refused(task.task);
  tables_.send_verdict(
      task.task, task.attempt, key, std::nullopt,
      held || why.code != ErrorCode::not_found ? why.message : held.error().message);
}

void ResultIntake::end_contradicting(const PublicKey& worker, const TaskId& task, Moment now) {
  const MicroCredits stake = tables_.accounts.slashable_stake(tables_.accounts.owner_of(worker));
  // A suspended worker gets no tasks, and nothing but a conviction changes its record.
  if (stake > 0 || !tables_.trust.book().suspended(worker, now.unix)) {
    parts_.rulings.carry_out(
        tables_.trust.convicted(task, worker, stake, 0,
                                "The worker has signed two results of one attempt of the task.",
                                now.unix),
        now);
    tables_.bar_server(worker);
  }
  auto* const found = tables_.workers.find(worker);
  if (found == nullptr) return;
  tables_.workers.close(found->session, ErrorCode::permission_denied,
                        "This device has signed two results of one attempt of a task: it is "
                        "suspended, and its owner's stake is lost. This happens if two machines "
                        "use one wallet; give each machine a wallet or a device of its own.");
  // No job is blamed for the tasks that the worker held.
  tables_.scheduler.remove_worker(worker, scheduler::Departure::left, now.at);
  parts_.sessions.disconnect(worker, now);
}

}  // namespace weft::jobs
