#include "worker/tasks/session.h"

#include <algorithm>
#include <array>

#include "common/protocol/messages.h"

namespace weft::worker {
namespace {

constexpr Duration rate_window = std::chrono::minutes(1);
constexpr std::size_t rate_samples_max = 65536;

}  // namespace

std::string_view to_string(SessionState state) {
  constexpr std::array<std::string_view, 7> words{"stopped", "connecting", "joining", "idle",
                                                  "working", "paused",     "waiting"};
  return words[static_cast<std::size_t>(state)];
}

Session::Session(Host& host, TaskRunner& runner, crypto::Signer& signer, Options options,
                 EventSink sink)
    : host_(host),
      options_(std::move(options)),
      slots_(options_.connection.slots),
      sink_(std::move(sink)),
      connection_(
          host, signer, options_.connection,
          {.connecting = [this] { on_event(event::Connecting{}); },
           .ready =
               [this](const protocol::Welcome& welcome) {
                 on_event(event::Connected{.balance = welcome.balance});
                 work_.on_ready(welcome);
                 if (options_.on_welcome) options_.on_welcome(welcome);
               },
           .lease = [this](const protocol::Lease& lease) { work_.on_lease(lease); },
           .verdict = [this](const protocol::Verdict& verdict) { work_.on_verdict(verdict); },
           .cancel = [this](const protocol::Cancel& cancel) { work_.on_cancel(cancel); },
           .open = [this](const protocol::OpenChunks& asked) { work_.openings().open(asked); },
           .open_states =
               [this](const protocol::OpenStates& asked) { work_.openings().open(asked); },
           .yield = [this](const protocol::Yield& yield) { work_.on_yield(yield); },
           .lost =
               [this](std::string reason, Duration retry) {
                 on_event(event::Disconnected{.reason = std::move(reason), .retry = retry});
               },
           .refused =
               [this](Error error) { on_event(event::Refused{.error = std::move(error)}); }}),
      work_(host, runner, connection_, work_options(),
            [this](const Event& event) { on_event(event); }),
      began_(host.now()) {}

void Session::start() { connection_.open(); }

void Session::stop(std::string reason) {
  if (stopping_ || ended_) return;
  stopping_ = true;
  update_slots();
  // Without a connection there is no coordinator to finish for.
  const Duration grace = connection_.ready() ? options_.stop_grace : Duration::zero();
  work_.finish(grace, [this, reason = std::move(reason)] {
    if (ended_) return;
    connection_.send(protocol::Bye{.reason = reason});
    connection_.close();
    end();
  });
}

void Session::end() {
  ended_ = true;
  sink_(event::Stopped{});
}

void Session::pause() {
  paused_ = true;
  update_slots();
}

void Session::resume() {
  paused_ = false;
  update_slots();
}

void Session::throttle(double share) {
  share_ = std::clamp(share, 0.05, 1.0);
  work_.throttle(share_);
  update_slots();
}

Work::Options Session::work_options() {
  Work::Options options = options_.work;
  options.on_rest = [this](bool rests) {
    resting_ = rests;
    update_slots();
  };
  return options;
}

// Tells the coordinator how many tasks the worker takes; before there is a connection, the number
// goes out with Hello.
void Session::update_slots() {
  const bool none = stopping_ || paused_ || resting_;
  connection_.set_slots(none ? 0 : share_ < 1 ? 1 : slots_);
}

SessionState Session::state() const {
  switch (connection_.state()) {
    case Connection::State::closed:
      return SessionState::stopped;
    case Connection::State::connecting:
      return SessionState::connecting;
    case Connection::State::joining:
      return SessionState::joining;
    case Connection::State::waiting:
      return SessionState::waiting;
    case Connection::State::ready:
      break;
  }
  if (work_.is_running()) return SessionState::working;
  return paused_ ? SessionState::paused : SessionState::idle;
}

Session::Stats Session::stats() {
  const Instant time = host_.now();
  while (!done_at_.empty() && time - done_at_.front() > rate_window) done_at_.pop_front();
  const double window = std::clamp(seconds(time - began_), 1.0, seconds(rate_window));
  Stats stats{.state = state(),
              .counters = work_.counters(),
              .tasks_per_minute = static_cast<double>(done_at_.size()) * 60 / window,
              .held = work_.held(),
              .unanswered = work_.unanswered(),
              .fetched_bytes = work_.fetched_bytes()};
  stats.counters.reconnects = losses_;
  if (!last_loss_.empty() && stats.counters.last_error.empty())
    stats.counters.last_error = last_loss_;
  return stats;
}

void Session::on_event(const Event& event) {
  if (std::holds_alternative<event::TaskDone>(event)) {
    done_at_.push_back(host_.now());
    if (done_at_.size() > rate_samples_max) done_at_.pop_front();
  }
  if (const auto* lost = std::get_if<event::Disconnected>(&event)) {
    ++losses_;
    last_loss_ = lost->reason;
  }
  if (ended_) return;
  sink_(event);
  if (std::holds_alternative<event::Refused>(event)) end();
}

}  // namespace weft::worker
