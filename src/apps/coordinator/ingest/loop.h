// The thread that owns the core: takes events as they come, as many as wait, and flushes after
// them; wakes for deadlines.
//
// Threading: post() from any; the core is touched on the loop's thread only. Bounds: events_max
// wait at a time.
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

  // `core` outlives the loop's thread.
  void start(jobs::Core& core);
  // False where too many events wait, or the loop has ended: the event is dropped.
  [[nodiscard]] bool post(Event event) { return queue_.post(std::move(event)); }
  // The same for what must not be dropped: results of our own work.
  void post_always(Event event) { queue_.post_always(std::move(event)); }
  // Handles what waits, flushes, and joins the thread.
  void stop();

 private:
  static constexpr std::size_t events_max = 65536;
  static constexpr std::size_t batch_max = 1024;  // Events between flushes.
  void run(jobs::Core& core);

  runtime::EventQueue<Event> queue_{events_max};
  CoreClock clock_;  // On the loop's thread.
  std::thread thread_;
};

}  // namespace weft::coordinator
