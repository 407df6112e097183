#include "decisions/jobs/worker_sessions.h"

#include <algorithm>
#include <array>

#include "common/base/format.h"
#include "common/base/log.h"
#include "decisions/jobs/worker_view.h"

namespace weft::jobs {

namespace {

scheduler::Standing standing_of(trust::Level level) {
  switch (level) {
    case trust::Level::newcomer:
      break;
    case trust::Level::established:
      return scheduler::Standing::established;
    case trust::Level::invited:
    case trust::Level::root:
      return scheduler::Standing::invited;
  }
  return scheduler::Standing::newcomer;
}

}  // namespace

void WorkerSessions::disconnect(const PublicKey& key, Moment now) {
  const ConnectedWorker* const found = tables_.workers.find(key);
  if (found == nullptr) return;
  tables_.workers.remove(key, worker_view(tables_, key, *found));
  tables_.trust.votes().forget_claims(key);
  checks_.worker_left(key, now);
}

void WorkerSessions::arrive(Arrival arrival, Moment now) {
  // The worker's presence counts from this time.
  tables_.scheduler.histories().set_clock(now.at, now.unix);
  const PublicKey key = arrival.hello.key;
  const auto close = [this](SessionId session, ErrorCode code, std::string message) {
    tables_.workers.close(session, code, std::move(message));
  };
  if (const auto may = tables_.accounts.may_spend(key); !may)
    return close(arrival.session, may.error().code, may.error().message);
  if (auto* const old = tables_.workers.find(key); old != nullptr) {
    close(old->session, ErrorCode::already_exists,
          "Another worker with this wallet replaces this one; give each worker a wallet of its own "
          "(weft work --wallet FILE).");
    tables_.scheduler.remove_worker(key, scheduler::Departure::left, now.at);
    disconnect(key, now);
  }
  tables_.trust.standing().admissions().invite(key, arrival.invitation);
  const bool is_newcomer = tables_.trust.level(key, now.unix) == trust::Level::newcomer;
  if (const auto room = tables_.workers.room_for(is_newcomer); !room)
    return close(arrival.session, room.error().code, room.error().message);
  scheduler::Worker joining{.key = key,
                            .kind = arrival.hello.kind,
                            .slots = arrival.hello.slots,
                            .capabilities = arrival.hello.capabilities};
  tables_.trust.standing().admissions().set_vendor(key, arrival.hello.capabilities.vendor);
  joining.prefix = arrival.prefix;
  joining.local = arrival.prefix.empty();
  joining.price_min = static_cast<MicroCredits>(arrival.hello.price_min);
  joining.standing = standing_of(tables_.trust.level(key, now.unix));
  if (arrival.hello.slice_memory_bytes > 0) {
    joining.sharing = scheduler::Sharing::sliced;
    joining.slice_memory_bytes = arrival.hello.slice_memory_bytes;
  }
  const auto added = tables_.scheduler.add_worker(joining, now.at);
  if (!added) return close(arrival.session, added.error().code, added.error().message);
  ++tables_.counters.workers_arrived;
  const MicroCredits balance = tables_.accounts.spendable(key);
  protocol::Welcome welcome{
      .session = weft::format("s-{}", arrival.session.number()),
      .beat_ms = static_cast<std::uint32_t>(tables_.settings.scheduler.beat.count()),
      .blob_token = arrival.blob_token,
      .balance = balance};
  log_info("Worker {} joins: {}.", key.text(), arrival.hello.capabilities.description);
  ConnectedWorker worker;
  worker.session = arrival.session;
  worker.prefix = std::move(arrival.prefix);
  worker.hello = std::move(arrival.hello);
  worker.blob_token = std::move(arrival.blob_token);
  worker.since = now.unix;
  tables_.workers.add(std::move(worker));
  tables_.workers.send(key, std::move(welcome));
  refresh(key, now);
  checks_.connected(key);
  if (tables_.trust.level(key, now.unix) != trust::Level::newcomer) checks_.worker_came(now);
}

void WorkerSessions::refresh(const PublicKey& key, Moment now) {
  auto* const worker = tables_.workers.find(key);
  if (worker == nullptr) return;
  tables_.book.set_known(key, tables_.trust.level(key, now.unix) != trust::Level::newcomer);
  tables_.book.set_root(key, tables_.trust.level(key, now.unix) == trust::Level::root);
  if (tables_.trust.book().suspended(key, now.unix)) {
    suspensions_.emplace(tables_.trust.book().record(key).suspended_until, key);
    tables_.scheduler.set_standing(key, scheduler::Standing::newcomer);
    return tables_.scheduler.set_slots(key, 0);
  }
  tables_.scheduler.set_standing(key, standing_of(tables_.trust.level(key, now.unix)));
  const std::size_t most = tables_.trust.standing().leases_max(key, now.unix);
  const std::size_t waiting = worker->undecided.size();
  tables_.scheduler.set_leases_max(key,
                                   static_cast<std::uint32_t>(most > waiting ? most - waiting : 0),
                                   tables_.trust.standing().sample_share(key, now.unix));
}

// A worker that stayed connected gets work again without reconnecting.
void WorkerSessions::end_suspensions(Moment now) {
  if (!tables_.settings.suspensions_end_connected) return;
  while (!suspensions_.empty() && suspensions_.begin()->first <= now.unix) {
    const PublicKey key = suspensions_.begin()->second;
    suspensions_.erase(suspensions_.begin());
    auto* const worker = tables_.workers.find(key);
    if (worker == nullptr || tables_.trust.book().suspended(key, now.unix)) continue;
    log_info("The suspension of worker {} is over.", key.text());
    tables_.scheduler.set_slots(key, worker->hello.slots);
    refresh(key, now);
  }
}

void WorkerSessions::decided(const TaskId& task, const PublicKey& worker, Moment now) {
  tables_.scheduler.checks().decided(task, worker);
  auto* const found = tables_.workers.find(worker);
  if (found == nullptr) return;
  found->undecided.erase(task);
  refresh(worker, now);
}

void WorkerSessions::resume(SessionId session, std::vector<protocol::HeldTask> held, Moment now) {
  auto* worker = tables_.workers.of_session(session);
  if (worker == nullptr) return;
  const PublicKey key = worker->hello.key;
  tables_.scheduler.heard(key, now.at);
  for (const auto& task : held) {
    auto* const job = tables_.jobs.find(task.task.job);
    if (job == nullptr || task.task.index >= job->row.tasks) continue;
    job->leased[task.task.index].insert(key);
    watch_.leased(*job, task.task.index, now);
  }
  for (const auto& task : tables_.scheduler.resume(key, held, now.at)) {
    const std::array<protocol::LeasedTask, 1> again{protocol::LeasedTask{
        .index = task.task.index,
        .attempt = task.attempt,
        .step_roots =
            asks_for_roots(tables_.jobs.at(task.task.job), task.task.index, key, task.attempt)}};
    checks_.leased(task.task.job, key, again, now);
  }
}

void WorkerSessions::beat(SessionId session, Moment now) {
  if (auto* worker = tables_.workers.of_session(session))
    tables_.scheduler.heard(worker->hello.key, now.at);
}

void WorkerSessions::slots(SessionId session, std::uint32_t slots, Moment now) {
  auto* worker = tables_.workers.of_session(session);
  if (worker == nullptr) return;
  worker->hello.slots = slots;
  tables_.scheduler.heard(worker->hello.key, now.at);
  if (!tables_.trust.book().suspended(worker->hello.key, now.unix))
    tables_.scheduler.set_slots(worker->hello.key, slots);
}

void WorkerSessions::left(SessionId session, bool on_purpose, Moment now) {
  auto* worker = tables_.workers.of_session(session);
  if (worker == nullptr) return;
  const PublicKey key = worker->hello.key;
  log_info("Worker {} {}.", key.text(), on_purpose ? "leaves" : "is gone");
  tables_.scheduler.remove_worker(
      key, on_purpose ? scheduler::Departure::left : scheduler::Departure::lost, now.at);
  disconnect(key, now);
}

void WorkerSessions::count(std::string_view feature, const Answer<std::size_t>& answer) const {
  answer(
      static_cast<std::size_t>(std::ranges::count_if(tables_.workers.all(), [&](const auto& each) {
        return std::ranges::contains(each.second.hello.capabilities.features, feature);
      })));
}

void WorkerSessions::pardoned(const PublicKey& worker) {
  std::erase_if(suspensions_, [&](const auto& each) { return each.second == worker; });
  if (const ConnectedWorker* const found = tables_.workers.find(worker); found != nullptr)
    tables_.scheduler.set_slots(worker, found->hello.slots);
}

std::optional<UnixMillis> WorkerSessions::next_suspension_end() const {
  return suspensions_.empty() ? std::nullopt : std::optional(suspensions_.begin()->first);
}

}  // namespace weft::jobs
