// Events on their way to one thread, in the order in which they were posted.
//
//   while (!ended) {
//     ended = queue.take(events, deadline, 1024);   // Waits.
//     for (auto& event : events) event();
//     events.clear();
//   }
//
// Threading: post(), post_always() and end() from any thread; take() from the one that handles the
// events. Bounds: `most` events wait at a time, those of post_always() apart.
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

  // False, and the event is dropped, if too many wait or end() was called.
  [[nodiscard]] bool post(Event event) {
    bool first = false;
    {
      const std::lock_guard lock(mutex_);
      if (ending_ || events_.size() >= most_) return false;
      first = events_.empty();
      events_.push_back(std::move(event));
    }
    // The thread takes all that is there, so only the first event has to wake it; once woken, it
    // finds the lock free.
    if (first) more_.notify_one();
    return true;
  }

  // For an event that must not be dropped: neither the bound nor end() keeps it out. After take()
  // has returned true it is never handled.
  void post_always(Event event) {
    bool first = false;
    {
      const std::lock_guard lock(mutex_);
      first = events_.empty();
      events_.push_back(std::move(event));
    }
    if (first) more_.notify_one();
  }

  // Waits for an event, for end() or for `wake` (nothing: without a deadline), and appends at most
  // `most` events to `out`. True once end() was called and no further event waits.
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

  // What waits is still taken.
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
