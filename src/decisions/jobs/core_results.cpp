// What workers hand in, and what trust makes of it.
#include "common/base/check.h"
#include "common/base/log.h"
#include "common/base/match.h"
#include "decisions/jobs/core_state.h"

namespace weft::jobs {

void Core::deliver(const Delivery& delivery, Moment now) {
  State& state = *state_;
  auto* worker = state.worker_of(delivery.session);
  if (worker == nullptr) return;
  const auto& result = delivery.result;
  const PublicKey key = worker->hello.key;
  state.scheduler.heard(key, now.at);
  if (state.extra_result(key, result, now)) return;
  const auto taken = state.scheduler.result({.task = result.task,
                                             .worker = key,
                                             .attempt = result.attempt,
                                             .gpu_seconds = result.gpu_seconds,
                                             .resumed = state.resumed_share(result, key)},
                                            now.at);
  const auto job = state.jobs.find(result.task.job);
  if (!taken || job == state.jobs.end()) {
    ++state.counters.results_refused;
    return state.verdict(result.task, result.attempt, key, std::nullopt,
                         taken ? "The job has ended." : taken.error().message);
  }
  job->second.leased[result.task.index].erase(key);
  const trust::Replica replica{
      .task = result.task, .worker = key, .attempt = result.attempt, .root = result.root};
  job->second.delivered[result.task.index].insert_or_assign(
      key, Delivered{.result = result, .arrived = now.unix});
  state.board.touch(result.task);
  if (state.compare_first(job->second, key, result)) {
    constexpr auto compared_after_max = std::chrono::minutes(10);
    return state.scheduler.awaits_receipt_from(result.task, key, now.at + compared_after_max);
  }
  state.act(state.trust.add_result(replica, now.unix), now);
}

void Core::receipt(CoveringReceipt receipt, Moment now) {
  State& state = *state_;
  auto* worker = state.worker_of(receipt.session);
  if (worker == nullptr) return;
  const PublicKey key = worker->hello.key;
  state.scheduler.heard(key, now.at);
  // One that arrived before this process began is told so that the next one is compared with it.
  const bool is_earlier = receipt.receipt.arrived != 0;
  if (!is_earlier) receipt.receipt.arrived = now.unix;
  if (const auto task = state.note_signed(key, receipt, is_earlier, now))
    return state.end_contradicting(key, *task, now);
  if (is_earlier) return;
  std::vector<trust::Claim> claims;
  std::vector<Coverings::Attempt> attempts;
  for (const auto& item : receipt.items) {
    const auto job = state.jobs.find(item.task.job);
    if (job == state.jobs.end() || item.task.index >= job->second.row.tasks ||
        job->second.accepted[item.task.index])
      continue;
    claims.push_back({.task = item.task, .attempt = item.attempt, .root = item.root});
    attempts.emplace_back(item.task, item.attempt);
  }
  // What its receipt is forgotten of counts with a new one.
  for (const auto& [task, attempt] :
       worker->coverings.add({.receipt = receipt.receipt,
                              .statement = std::move(receipt.statement),
                              .claims = std::move(receipt.claims)},
                             attempts))
    state.trust.votes().forget_claim(key, task, attempt);
  for (const auto& item : receipt.items) state.extra_claim(key, item, now);
  state.act(state.trust.add_receipt(key, claims, now.unix), now);
}

void Core::failed(SessionId session, const protocol::TaskFailed& failure, Moment now) {
  State& state = *state_;
  auto* worker = state.worker_of(session);
  if (worker == nullptr) return;
  const PublicKey key = worker->hello.key;
  state.scheduler.heard(key, now.at);
  log_info("Task {} fails on {}: {}", failure.task.text(), key.text(), failure.message);
  if (state.extra_failed(key, failure.task, failure.attempt, now)) return;
  const auto taken = state.scheduler.failed(
      failure.task, key, failure.attempt, {error_code_from(failure.code), failure.message}, now.at);
  if (!taken) log_debug("{}", taken.error().message);
  const auto job = state.jobs.find(failure.task.job);
  if (taken && job != state.jobs.end()) job->second.leased[failure.task.index].erase(key);
  state.board.touch(failure.task);
}

void Core::refuse(SessionId session, const protocol::HeldTask& task, const Error& why, Moment now) {
  State& state = *state_;
  auto* worker = state.worker_of(session);
  if (worker == nullptr) return;
  const PublicKey key = worker->hello.key;
  state.scheduler.heard(key, now.at);
  ++state.counters.results_refused;
  log_warning("The result of {} for {} is refused: {}", key.text(), task.task.text(), why.message);
  if (state.extra_failed(key, task.task, task.attempt, now))
    return state.verdict(task.task, task.attempt, key, std::nullopt, why.message);
  const auto held = state.scheduler.failed(task.task, key, task.attempt,
                                           {ErrorCode::data_loss, why.message}, now.at);
  if (held) state.note_refusal(task.task);
  state.verdict(task.task, task.attempt, key, std::nullopt,
                held || why.code != ErrorCode::not_found ? why.message : held.error().message);
}

void Core::State::verdict(const TaskId& task, std::uint32_t attempt, const PublicKey& worker,
                          std::optional<MicroCredits> paid, std::string reason) {
  send(worker, protocol::Verdict{.task = task,
                                 .attempt = attempt,
                                 .accepted = paid.has_value(),
                                 .paid = paid.value_or(0),
                                 .balance = spendable(worker),
                                 .reason = std::move(reason)});
}

void Core::State::store_reputation(const PublicKey& worker) {
  const auto reputation = trust.votes().reputation(worker);
  batch.reputations.push_back(
      {.worker = worker, .accepted = reputation.accepted, .refused = reputation.refused});
}

std::vector<store::OutputBlob> blobs_of(const protocol::TaskResult& result) {
  std::vector<store::OutputBlob> blobs;
  for (const auto& output : result.outputs)
    blobs.push_back({.hash = output.hash, .bytes = output.bytes});
  return blobs;
}

void Core::State::act(const std::vector<trust::Ruling>& rulings, Moment now) {
  for (const auto& ruling : rulings) act(ruling, now);
  pay_juries(now);
  // Behind all of them: what a dispute took from its losers makes good for the client while the job
  // is there.
  for (const JobId& id : std::exchange(complete, {})) {
    if (const auto job = jobs.find(id); job != jobs.end()) start_join(job->second, now);
  }
}

void Core::State::act(const trust::Ruling& ruling, Moment now) {
  std::visit(Match{[&](const trust::Counted& counted) { count(counted, now); },
                   [&](const trust::Accepted& accepted) { accept(accepted, now); },
                   [&](const trust::Refused& refused) { turn_down(refused, now); },
                   [&](const trust::NeedReplicas& need) {
                     scheduler.want_replicas(need.task, need.replicas);
                   },
                   [&](const trust::AuditWanted& wanted) { start_audit(wanted, now); },
                   [&](const trust::Convicted& convicted) { convict(convicted, now); },
                   [&](const trust::PollWanted& wanted) { start_poll(wanted, now); },
                   [&](const trust::Suspected& suspected) { suspect(suspected, now); },
                   [&](const trust::JobFailed& failure) {
                     if (failure.irreproducible)
                       return end_irreproducible(failure.job, failure.reason, now);
                     end_job(failure.job,
                             {.state = store::JobState::failed,
                              .reason = failure.reason,
                              .root = {},
                              .outputs = {},
                              .ended = now.unix},
                             now);
                   }},
             ruling);
}

void Core::State::count(const trust::Counted& counted, Moment now) {
  const auto job = jobs.find(counted.task.job);
  if (job == jobs.end()) return;
  auto& of_task = job->second.delivered[counted.task.index];
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
                     .arrived = delivered.arrived};
  if (const auto worker = workers.find(counted.worker); worker != workers.end()) {
    if (const auto covering = worker->second.coverings.take({counted.task, counted.attempt})) {
      row.receipt = covering->receipt.digest;
      if (!std::exchange(covering->stored, true)) store_receipt(*covering);
    }
  }
  batch.replicas.push_back(std::move(row));
  ++counters.replicas_counted;
  scheduler.counted(counted.task, counted.worker);
  if (const auto worker = workers.find(counted.worker);
      worker != workers.end() &&
      trust.standing().leases_max(counted.worker, now.unix) <= newcomer_slots_max) {
    worker->second.undecided.insert(counted.task);
    refresh(counted.worker, now);
  }
}

// With what was signed, so that others can check it later without the coordinator.
void Core::State::store_receipt(Covering& covering) {
  parts.world.keep(std::exchange(covering.statement, {}));
  parts.world.keep(std::exchange(covering.claims, {}));
  batch.receipts.push_back(covering.receipt);
}

void Core::State::accept(const trust::Accepted& accepted, Moment now) {
  const auto found = jobs.find(accepted.task.job);
  if (found == jobs.end()) return;
  RunningJob& job = found->second;
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
                  .basis = basis_of(job, accepted, now)};
  job.accepted[index] = std::make_unique<const Settled>(row.root, row.outputs);
  batch.tasks.push_back(std::move(row));
  ++job.accepted_count;
  --tasks_open;
  ++counters.tasks_accepted;
  const Paid paid = pay(job, index, accepted.agreeing, now);
  for (const auto& worker : accepted.agreeing) {
    store_reputation(worker);
    verdict(accepted.task, delivery_of(worker).attempt, worker, paid.each,
            paid.each > 0 ? why_held(worker) : std::string());
  }
  Jury jury{.task = accepted.task, .members = {}};
  for (const auto& worker : accepted.jurors) {
    store_reputation(worker);
    jury.members.push_back(
        {.worker = worker, .attempt = delivery_of(worker).attempt, .pay = paid.each});
  }
  for (const auto& [key, share, accuser] : job.auditors[index]) {
    if (accuser) {
      jury.members.push_back(
          {.worker = key,
           .attempt = extra_attempt,
           .pay = static_cast<MicroCredits>(static_cast<double>(paid.each) * share)});
    } else {
      const auto its = paid.auditors.find(key);
      verdict(accepted.task, extra_attempt, key, its == paid.auditors.end() ? 0 : its->second, {});
    }
  }
  job.auditors.erase(index);
  if (!jury.members.empty()) juries.push_back(std::move(jury));
  job.delivered.erase(index);
  job.leased.erase(index);
  forget_checkpoints(job, index);
  note_acceptance(job, index, paid.each * static_cast<MicroCredits>(accepted.agreeing.size()), now);
  std::vector<PublicKey> right = accepted.agreeing;
  right.insert(right.end(), accepted.jurors.begin(), accepted.jurors.end());
  scheduler.settled(accepted.task, right);
  for (const auto& [worker, its] : delivered) decided(accepted.task, worker, now);
  if (job.accepted_count == job.row.tasks) complete.push_back(job.row.id);
}

void Core::State::turn_down(const trust::Refused& refused, Moment now) {
  ++counters.results_refused;
  note_refusal(refused.task);
  log_warning("The result of {} for {} is refused: {}", refused.worker.text(), refused.task.text(),
              refused.reason);
  // Its lease, if it still has one, ends without a result. (One that was counted has none.)
  (void)scheduler.failed(refused.task, refused.worker, refused.attempt,
                         {ErrorCode::data_loss, refused.reason}, now.at);
  if (refused.wrong && settings.referee.defences.newcomers_decide_nothing)
    scheduler.bar(refused.task, refused.worker);
  decided(refused.task, refused.worker, now);
  store_reputation(refused.worker);
  verdict(refused.task, refused.attempt, refused.worker, std::nullopt, refused.reason);
}

}  // namespace weft::jobs
