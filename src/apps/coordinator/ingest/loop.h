// The thread that owns the core: takes events as they come, as many as wait, and flushes after
// them; wakes for deadlines.
//
// Threading: post() from any; the core is touched on the loop's thread only. Bounds: events_max
// wait at a time.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "decisions/jobs/core.h"

namespace weft::coordinator {

class Loop {
 public:
  using Event = std::function<void(jobs::Core&, jobs::Moment)>;

  Loop() = default;
  Loop(const Loop&) = delete;
  ~Loop() { stop(); }

  // `core` outlives the loop's thread.
  void start(jobs::Core& core);
  // False where too many events wait, or the loop has ended: the event is dropped.
  [[nodiscard]] bool post(Event event);
  // The same for what must not be dropped: results of our own work.
  void post_always(Event event);
  // Handles what waits, flushes, and joins the thread.
  void stop();

 private:
  static constexpr std::size_t events_max = 65536;
  static constexpr std::size_t batch_max = 1024;  // Events between flushes.
  void run(jobs::Core& core);

  std::mutex mutex_;
  std::condition_variable more_;
  std::deque<Event> queue_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace weft::coordinator
