// A worker's session with one coordinator, natively and in a browser: joins, takes leases, runs
// tasks, sends results and receipts, reconnects after every loss, and says Bye at its end. It is a
// state machine over a Host, so that tests can simulate the network and the clock.
//
// Threading: one thread; all callbacks of the Host run there. Lifetime: may be destroyed at any
// time except inside one of its own events.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <string_view>

#include "worker/tasks/connection.h"
#include "worker/tasks/events.h"
#include "worker/tasks/host.h"
#include "worker/tasks/work.h"

namespace weft::worker {

enum class SessionState : std::uint8_t {
  stopped,
  connecting,
  joining,
  idle,
  working,
  paused,
  waiting
};
[[nodiscard]] std::string_view to_string(SessionState state);

class Session {
 public:
  struct Options {
    Connection::Options connection;
    Work::Options work;
    Duration stop_grace = std::chrono::seconds(3);
    // Called after every join, for other work of the worker with this coordinator.
    std::function<void(const protocol::Welcome& welcome)> on_welcome{};
  };
  struct Stats {
    SessionState state = SessionState::stopped;
    Counters counters;
    double tasks_per_minute = 0;  // The average over the last minute.
    std::size_t held = 0;
    std::size_t unanswered = 0;
    std::uint64_t fetched_bytes = 0;
  };

  Session(Host& host, TaskRunner& runner, crypto::Signer& signer, Options options, EventSink sink);

  void start();
  // Stops the session: running tasks are finished within Options::stop_grace or given back; then
  // Bye, and event::Stopped. Stops at once if no task was started. A session that has ended cannot
  // be started again.
  void stop(std::string reason);
  // Takes no new tasks; leased tasks are finished.
  void pause();
  void resume();
  void wake() { connection_.wake(); }
  // Sets the share of the time that is spent on tasks, clamped to [0.05, 1]. Below 1 the session
  // holds one task at a time, and no task during a rest.
  void throttle(double share);

  [[nodiscard]] SessionState state() const;
  [[nodiscard]] Stats stats();

 private:
  void on_event(const Event& event);
  void end();
  [[nodiscard]] Work::Options work_options();
  void update_slots();

  Host& host_;
  Options options_;
  const std::uint32_t slots_;
  EventSink sink_;
  Connection connection_;
  Work work_;
  std::deque<Instant> done_at_;  // The times at which tasks of the last minute were done.
  std::uint64_t losses_ = 0;
  std::string last_loss_;
  Instant began_;
  double share_ = 1;
  bool paused_ = false;
  bool resting_ = false;
  bool stopping_ = false;
  bool ended_ = false;
};

}  // namespace weft::worker
