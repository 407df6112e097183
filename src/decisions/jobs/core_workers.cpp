// Workers as they come and go.
#include <array>

#include "common/base/format.h"
#include "common/base/log.h"
#include "decisions/jobs/core_state.h"

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

ConnectedWorker* Core::State::worker_of(SessionId session) {
  const auto key = keys.find(session);
  return key == keys.end() ? nullptr : &workers.at(key->second);
}

// Forgets the connection; the scheduler has been told already.
void Core::State::disconnect(const PublicKey& key, Moment now) {
  const auto found = workers.find(key);
  if (found == workers.end()) return;
  auto view = view_of(key, found->second);
  view.connected = false;
  view.held = 0;
  std::erase_if(departed, [&](const auto& other) { return other.key == view.key; });
  departed.push_back(std::move(view));
  if (departed.size() > settings.departed_max) departed.pop_front();
  parts.book.remove_token(found->second.blob_token);
  parts.book.set_known(key, false);
  keys.erase(found->second.session);
  workers.erase(found);
  trust.votes().forget_claims(key);
  extras_of_gone(key, now);
}

Result<> Core::State::room_for(bool is_newcomer) const {
  const std::size_t most = settings.workers_max;
  if (workers.size() >= most) {
    return fail(ErrorCode::resource_exhausted,
                "{} workers are connected already (--workers-max raises the bound).",
                workers.size());
  }
  const auto kept =
      static_cast<std::size_t>(static_cast<double>(most) * settings.workers_known_share);
  const std::size_t newcomers = workers.size() - parts.book.known();
  if (!is_newcomer || newcomers + kept < most) return {};
  return fail(ErrorCode::resource_exhausted,
              "{} new workers are connected already, and the other places are for invited and "
              "established ones (--workers-max raises the bound).",
              newcomers);
}

void Core::arrive(Arrival arrival, Moment now) {
  State& state = *state_;
  state.scheduler.set_clock(now.at, now.unix);  // The worker's hours count from here.
  const PublicKey key = arrival.hello.key;
  const auto close = [&state](SessionId session, ErrorCode code, std::string message) {
    state.effect([&state, session, code, message = std::move(message)] {
      state.parts.world.close(session, {.code = std::string(to_string(code)), .message = message});
    });
  };
  if (const auto may = state.owners.may_act(key, ledger::Owners::Wants::spending); !may)
    return close(arrival.session, may.error().code, may.error().message);
  if (const auto old = state.workers.find(key); old != state.workers.end()) {
    close(old->second.session, ErrorCode::already_exists,
          "Another worker with this wallet replaces this one; give each worker a wallet of its own "
          "(weft work --wallet FILE).");
    state.scheduler.remove_worker(key, scheduler::Departure::left, now.at);
    state.disconnect(key, now);
  }
  state.trust.standing().admissions().invite(key, arrival.invitation);
  const bool is_newcomer = state.trust.level(key, now.unix) == trust::Level::newcomer;
  if (const auto room = state.room_for(is_newcomer); !room)
    return close(arrival.session, room.error().code, room.error().message);
  scheduler::Worker joining{.key = key,
                            .kind = arrival.hello.kind,
                            .slots = arrival.hello.slots,
                            .capabilities = arrival.hello.capabilities};
  state.trust.standing().admissions().set_vendor(key, arrival.hello.capabilities.vendor);
  joining.prefix = arrival.prefix;
  joining.local = arrival.prefix.empty();
  joining.price_min = static_cast<MicroCredits>(arrival.hello.price_min);
  joining.standing = standing_of(state.trust.level(key, now.unix));
  if (arrival.hello.slice_memory_bytes > 0) {
    joining.sharing = scheduler::Sharing::sliced;
    joining.slice_memory_bytes = arrival.hello.slice_memory_bytes;
  }
  const auto added = state.scheduler.add_worker(joining, now.at);
  if (!added) return close(arrival.session, added.error().code, added.error().message);
  ++state.counters.workers_arrived;
  const MicroCredits balance = state.spendable(key);
  protocol::Welcome welcome{
      .session = weft::format("s-{}", arrival.session.number()),
      .beat_ms = static_cast<std::uint32_t>(state.settings.scheduler.beat.count()),
      .blob_token = arrival.blob_token,
      .balance = balance};
  state.parts.book.add_token(arrival.blob_token, key);
  std::erase_if(state.departed, [&](const auto& other) { return other.key == key.text(); });
  log_info("Worker {} joins: {}.", key.text(), arrival.hello.capabilities.description);
  ConnectedWorker worker;
  worker.session = arrival.session;
  worker.prefix = std::move(arrival.prefix);
  worker.hello = std::move(arrival.hello);
  worker.blob_token = std::move(arrival.blob_token);
  worker.since = now.unix;
  state.keys.emplace(worker.session, key);
  state.workers.emplace(key, std::move(worker));
  state.send(key, std::move(welcome));
  state.refresh(key, now);
  if (state.trust.level(key, now.unix) != trust::Level::newcomer) state.lease_waiting_audits(now);
}

void Core::State::refresh(const PublicKey& key, Moment now) {
  const auto worker = workers.find(key);
  if (worker == workers.end()) return;
  parts.book.set_known(key, trust.level(key, now.unix) != trust::Level::newcomer);
  if (trust.book().suspended(key, now.unix)) {
    suspensions.emplace(trust.book().record(key).suspended_until, key);
    scheduler.set_standing(key, scheduler::Standing::newcomer);
    return scheduler.set_slots(key, 0);
  }
  scheduler.set_standing(key, standing_of(trust.level(key, now.unix)));
  const std::size_t most = trust.standing().leases_max(key, now.unix);
  const std::size_t waiting = worker->second.undecided.size();
  scheduler.set_leases_max(key, static_cast<std::uint32_t>(most > waiting ? most - waiting : 0),
                           trust.standing().sample_share(key, now.unix));
}

// A worker that stayed connected gets work again without reconnecting.
void Core::State::end_suspensions(Moment now) {
  if (!settings.suspensions_end_connected) return;
  while (!suspensions.empty() && suspensions.begin()->first <= now.unix) {
    const PublicKey key = suspensions.begin()->second;
    suspensions.erase(suspensions.begin());
    const auto worker = workers.find(key);
    if (worker == workers.end() || trust.book().suspended(key, now.unix)) continue;
    log_info("The suspension of worker {} is over.", key.text());
    scheduler.set_slots(key, worker->second.hello.slots);
    refresh(key, now);
  }
}

void Core::State::decided(const TaskId& task, const PublicKey& worker, Moment now) {
  scheduler.sample_decided(task, worker);
  const auto found = workers.find(worker);
  if (found == workers.end()) return;
  found->second.undecided.erase(task);
  refresh(worker, now);
}

void Core::resume(SessionId session, std::vector<protocol::HeldTask> held, Moment now) {
  State& state = *state_;
  auto* worker = state.worker_of(session);
  if (worker == nullptr) return;
  const PublicKey key = worker->hello.key;
  state.scheduler.heard(key, now.at);
  for (const auto& task : held) {
    const auto job = state.jobs.find(task.task.job);
    if (job == state.jobs.end() || task.task.index >= job->second.row.tasks) continue;
    job->second.leased[task.task.index].insert(key);
    state.note_lease(job->second, task.task.index, now);
  }
  for (const auto& task : state.scheduler.resume(key, held, now.at)) {
    const std::array<protocol::LeasedTask, 1> again{
        protocol::LeasedTask{.index = task.task.index, .attempt = task.attempt}};
    state.tell_leased(task.task.job, key, again, now);
  }
}

void Core::beat(SessionId session, Moment now) {
  if (auto* worker = state_->worker_of(session)) state_->scheduler.heard(worker->hello.key, now.at);
}

void Core::slots(SessionId session, std::uint32_t slots, Moment now) {
  auto* worker = state_->worker_of(session);
  if (worker == nullptr) return;
  worker->hello.slots = slots;
  state_->scheduler.heard(worker->hello.key, now.at);
  if (!state_->trust.book().suspended(worker->hello.key, now.unix))
    state_->scheduler.set_slots(worker->hello.key, slots);
}

void Core::left(SessionId session, bool on_purpose, Moment now) {
  auto* worker = state_->worker_of(session);
  if (worker == nullptr) return;
  const PublicKey key = worker->hello.key;
  log_info("Worker {} {}.", key.text(), on_purpose ? "leaves" : "is gone");
  state_->scheduler.remove_worker(
      key, on_purpose ? scheduler::Departure::left : scheduler::Departure::lost, now.at);
  state_->disconnect(key, now);
}

}  // namespace weft::jobs
