// One thread's work, one thing after the other: functions posted from anywhere, and timers. The native worker's session
// lives on it.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <queue>
#include <vector>

#include "common/base/clock.h"

namespace weft::worker {

class RunLoop {
 public:
  // From any thread. What is posted after quit() is dropped.
  void post(std::function<void()> work);
  void after(Duration delay, std::function<void()> work);
  void quit();
  // Runs until quit().
  void run();

 private:
  struct Timer {
    Instant at;
    std::uint64_t serial = 0;
    std::function<void()> work;
    // The earliest on top of the queue.
    bool operator<(const Timer& other) const { return at != other.at ? at > other.at : serial > other.serial; }
  };
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> posted_;
  std::priority_queue<Timer> timers_;
  std::uint64_t serial_ = 0;
  bool quitting_ = false;
};

}  // namespace weft::worker
