// A queue that hands events from any thread to one thread, in the order in which they were posted.
//
//   while (!ended) {
//     ended = queue.take(events, deadline, 1024);   // Waits.
//     for (auto& event : events) event();
//     events.clear();
//   }
//
// Threading: post(), post_always() and end() may be called from any thread; take() only from the
// thread that handles the events. Bounds: at most `most` events wait at a time; those of
// post_always() are not counted.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <iterator>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "common/base/clock.h"

namespace weft::runtime {

template <class Event>
class EventQueue {
 public:
  explicit EventQueue(std::size_t most) : most_(most) {}
  EventQueue(const EventQueue&) = delete;

  // Returns false, and drops the event, if the queue is full or end() was called.
  [[nodiscard]] bool post(Event event) {
    bool first = false;
    {
      const std::lock_guard lock(mutex_);
      if (ending_ || events_.size() >= most_) return false;
      first = events_.empty();
      events_.push_back(std::move(event));
    }
    // take() takes all waiting events, so only the first event has to wake the thread. The thread
    // is woken after the lock was released, so that it finds the lock free.
    if (first) more_.notify_one();
    return true;
  }

  // Posts an event that must not be dropped: it is accepted even if the queue is full or end() was
  // called. If take() has already returned true, the event is never handled.
  void post_always(Event event) {
    bool first = false;
    {
      const std::lock_guard lock(mutex_);
      first = events_.empty();
      events_.push_back(std::move(event));
    }
    if (first) more_.notify_one();
  }

  // Waits for an event, for end() or until `wake` (nullopt: without a deadline), and appends at
  // most `most` events to `out`. Returns true once end() was called and no further event waits.
  [[nodiscard]] bool take(std::vector<Event>& out, std::optional<Instant> wake, std::size_t most) {
    std::unique_lock lock(mutex_);
    const auto is_ready = [this] { return ending_ || !events_.empty(); };
    if (wake) {
      more_.wait_until(lock, *wake, is_ready);
    } else {
      more_.wait(lock, is_ready);
    }
    const auto end = events_.begin() + static_cast<std::ptrdiff_t>(std::min(events_.size(), most));
    out.insert(out.end(), std::make_move_iterator(events_.begin()), std::make_move_iterator(end));
    events_.erase(events_.begin(), end);
    return ending_ && events_.empty();
  }

  // take() still returns the events that wait.
  void end() {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    more_.notify_one();
  }

 private:
  const std::size_t most_;
  std::mutex mutex_;
  std::condition_variable more_;
  std::deque<Event> events_;
  bool ending_ = false;
};

}  // namespace weft::runtime
