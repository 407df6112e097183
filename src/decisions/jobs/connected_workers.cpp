#include "decisions/jobs/connected_workers.h"

#include <algorithm>
#include <utility>

namespace weft::jobs {

ConnectedWorker* ConnectedWorkers::find(const PublicKey& key) {
  const auto found = workers_.find(key);
  return found == workers_.end() ? nullptr : &found->second;
}

ConnectedWorker* ConnectedWorkers::of_session(SessionId session) {
  const auto key = keys_.find(session);
  return key == keys_.end() ? nullptr : &workers_.at(key->second);
}

Result<> ConnectedWorkers::room_for(bool is_newcomer) const {
  const std::size_t most = settings_.workers_max;
  if (workers_.size() >= most) {
    return fail(ErrorCode::resource_exhausted,
                "{} workers are connected already (--workers-max raises the bound).",
                workers_.size());
  }
  const auto kept =
      static_cast<std::size_t>(static_cast<double>(most) * settings_.workers_known_share);
  const std::size_t newcomers = workers_.size() - book_.known();
  if (!is_newcomer || newcomers + kept < most) return {};
  return fail(ErrorCode::resource_exhausted,
              "{} new workers are connected already, and the other places are for invited and "
              "established ones (--workers-max raises the bound).",
              newcomers);
}

void ConnectedWorkers::add(ConnectedWorker worker) {
  const PublicKey key = worker.hello.key;
  forget_departed(key);
  book_.add_token(worker.blob_token, key);
  keys_.emplace(worker.session, key);
  workers_.emplace(key, std::move(worker));
}

void ConnectedWorkers::remove(const PublicKey& key, protocol::api::Worker view) {
  const auto found = workers_.find(key);
  if (found == workers_.end()) return;
  view.connected = false;
  view.held = 0;
  forget_departed(key);
  departed_.push_back(std::move(view));
  if (departed_.size() > settings_.departed_max) departed_.pop_front();
  book_.remove_token(found->second.blob_token);
  book_.set_known(key, false);
  book_.set_root(key, false);
  keys_.erase(found->second.session);
  workers_.erase(found);
}

void ConnectedWorkers::send(const PublicKey& key, protocol::CoordinatorMessage message) {
  ConnectedWorker* const worker = find(key);
  if (worker == nullptr) return;
  const bool in_order =
      !std::holds_alternative<protocol::Verdict>(message);  // A lease may overtake verdicts.
  if (in_order) ++worker->waiting;
  outbox_.effect([this, key, session = worker->session, in_order, sent = std::move(message)] {
    if (in_order) {
      if (ConnectedWorker* const still = find(key); still != nullptr && still->session == session)
        --still->waiting;
    }
    world_.send(session, sent);
  });
}

void ConnectedWorkers::send_early(const PublicKey& key, protocol::CoordinatorMessage message) {
  const ConnectedWorker* const worker = find(key);
  if (worker == nullptr || outbox_.is_broken()) return;
  if (worker->waiting > 0) return send(key, std::move(message));
  world_.send(worker->session, std::move(message));
}

void ConnectedWorkers::close(SessionId session, ErrorCode code, std::string message) {
  outbox_.effect([this, session, code, message = std::move(message)] {
    world_.close(session, {.code = std::string(to_string(code)), .message = message});
  });
}

void ConnectedWorkers::forget_departed(const PublicKey& key) {
  std::erase_if(departed_, [text = key.text()](const auto& one) { return one.key == text; });
}

}  // namespace weft::jobs
