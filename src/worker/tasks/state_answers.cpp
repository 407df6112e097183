#include "worker/tasks/state_answers.h"

#include <utility>

#include "common/base/log.h"
#include "common/crypto/sha256.h"

namespace weft::worker {
namespace {

constexpr int upload_attempts_max = 6;
constexpr Duration upload_retry = std::chrono::milliseconds(500);

}  // namespace

StateAnswers::StateAnswers(Host& host, Connection& connection, const WorkSession& session,
                           std::size_t results_max)
    : host_(host), connection_(connection), session_(session), results_max_(results_max) {}

void StateAnswers::add(const TaskKey& key, std::shared_ptr<const StepTrace> trace) {
  if (traces_.size() < results_max_) traces_.insert_or_assign(key, std::move(trace));
}

void StateAnswers::erase(const TaskKey& key) {
  traces_.erase(key);
  unsent_.erase(key);
  std::erase_if(answers_, [&](const Answer& answer) { return answer.key == key; });
}

void StateAnswers::clear() {
  traces_.clear();
  unsent_.clear();
  answers_.clear();
}

void StateAnswers::open(const protocol::OpenStates& asked) {
  const TaskKey key{.task = asked.task, .attempt = asked.attempt};
  Answer answer{.key = key,
                .serial = ++serial_,
                .states = {.task = asked.task, .attempt = asked.attempt, .states = {}}};
  for (const std::uint32_t group : asked.groups)
    answer.states.states.push_back({.group = group, .blob = {}, .bytes = 0});
  if (!traces_.contains(key)) return connection_.send(std::move(answer.states));
  unsent_.erase(key);
  std::erase_if(answers_, [&](const Answer& earlier) { return earlier.key == key; });
  answers_.push_back(std::move(answer));
  work();
}

void StateAnswers::on_ready() {
  for (auto& [key, states] : std::exchange(unsent_, {})) connection_.send(std::move(states));
}

void StateAnswers::work() {
  while (!uploading_ && !answers_.empty()) {
    Answer& answer = answers_.front();
    auto& states = answer.states.states;
    if (answer.next == states.size()) {
      if (connection_.ready()) {
        connection_.send(std::move(answer.states));
      } else {
        unsent_.insert_or_assign(answer.key, std::move(answer.states));
      }
      answers_.pop_front();
      continue;
    }
    protocol::StepState state = states[answer.next];
    auto blob = traces_.at(answer.key)->state_before(state.group);
    if (!blob) {
      ++answer.next;
      continue;
    }
    state.blob = crypto::sha256(*blob);
    state.bytes = blob->size();
    uploading_ = true;
    upload({.answer = answer.serial,
            .state = state,
            .bytes = std::make_shared<const ByteVector>(*std::move(blob)),
            .attempt = 1});
  }
}

void StateAnswers::upload(const Upload& one) {
  host_.put_blob(one.state.blob, *one.bytes, session_.token,
                 alive_.guard([this, one](const Result<>& result) { uploaded(one, result); }));
}

void StateAnswers::uploaded(const Upload& one, const Result<>& result) {
  if (!is_wanted(one)) return next_upload();
  const bool passing = !result && (result.error().code == ErrorCode::unavailable ||
                                   result.error().code == ErrorCode::deadline_exceeded ||
                                   // The token may be that of an earlier session.
                                   result.error().code == ErrorCode::unauthenticated);
  if (passing && one.attempt < upload_attempts_max) {
    return host_.after(upload_retry * one.attempt, alive_.guard([this, again = one]() mutable {
      if (!is_wanted(again)) return next_upload();
      // An attempt counts only if there was a connection.
      if (connection_.ready()) ++again.attempt;
      upload(again);
    }));
  }
  Answer& answer = answers_.front();
  if (result) {
    answer.states.states[answer.next] = one.state;
  } else {
    log_warning("The state before group {} of task {} is not stored: {}", one.state.group,
                answer.key.task.text(), result.error().message);
  }
  ++answer.next;
  next_upload();
}

}  // namespace weft::worker
