// The thread that owns the core. It runs all waiting events, then flushes the core, and wakes up
// for deadlines.
//
// Threading: post() from any thread; only the loop's thread uses the core. Bounds: events_max
// events wait at a time.
#pragma once

#include <functional>
#include <thread>

#include "apps/coordinator/ingest/core_clock.h"
#include "decisions/jobs/core.h"
#include "platform/runtime/event_queue.h"

namespace weft::coordinator {

class Loop {
 public:
  using Event = std::function<void(jobs::Core&, jobs::Moment)>;

  Loop() = default;
  Loop(const Loop&) = delete;
  ~Loop() { stop(); }

  // Starts the thread. `core` must outlive it.
  void start(jobs::Core& core);
  // Returns false and drops the event if too many events wait or the loop has ended.
  [[nodiscard]] bool post(Event event) { return queue_.post(std::move(event)); }
  // Posts an event that must not be dropped, such as a result of the coordinator's own work,
  // regardless of the bound.
  void post_always(Event event) { queue_.post_always(std::move(event)); }
  // Runs the waiting events, flushes the core, and joins the thread.
  void stop();

 private:
  static constexpr std::size_t events_max = 65536;
  static constexpr std::size_t batch_max = 1024;  // Most events between two flushes.
  void run(jobs::Core& core);

  runtime::EventQueue<Event> queue_{events_max};
  CoreClock clock_;  // Used only on the loop's thread.
  std::thread thread_;
};

}  // namespace weft::coordinator
