// The future events of a simulated network, and its time.
//
// Events of the same time happen in the order in which they were added, so that a run depends on
// its seed alone. Not safe to share between threads.
#pragma once

#include <cstdint>
#include <optional>
#include <queue>
#include <vector>

#include "common/base/ids.h"

namespace weft::trust::attacks {

struct Event {
  enum class Kind : std::uint8_t {
    ends,      // A worker's task has ended.
    verified,  // The verifier has finished its sample.
    audited,   // A worker has finished a part of an audit.
    polled,    // A worker has answered a poll.
    canary,    // The operator's device has measured a job's canary.
    joins,     // A worker that was lost comes back.
  } kind;
  double time = 0;  // Time of the event, in seconds.
  std::uint64_t order = 0;
  std::uint32_t worker = 0;
  std::uint64_t serial = 0;  // The serial of a worker's task, or of an audit.
  TaskId task{};
  PublicKey suspect{};
  bool agrees = false;
  friend bool operator<(const Event& a, const Event& b) {
    return a.time != b.time ? a.time > b.time : a.order > b.order;
  }
};

class EventQueue {
 public:
  [[nodiscard]] double time() const { return time_; }
  // The time of the next event; nothing if there is none.
  [[nodiscard]] std::optional<double> next_time() const {
    return events_.empty() ? std::nullopt : std::optional(events_.top().time);
  }
  // Adds an event that happens `delay` seconds from now.
  void later(double delay, Event event) {
    event.time = time_ + delay;
    event.order = ++order_;
    events_.push(event);
  }
  // Sets the time, which never goes backwards.
  void advance_to(double time) { time_ = time > time_ ? time : time_; }
  // Removes and returns the next event whose time has come; nothing if there is none.
  [[nodiscard]] std::optional<Event> take_due() {
    if (events_.empty() || events_.top().time > time_) return std::nullopt;
    const Event event = events_.top();
    events_.pop();
    return event;
  }

 private:
  std::priority_queue<Event> events_;
  double time_ = 0;
  std::uint64_t order_ = 0;
};

}  // namespace weft::trust::attacks
