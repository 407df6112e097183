// The thread on which decisions/inference decides: it owns no state, runs what is posted in order,
// and ticks the desk at its deadlines.
//
// Threading: post() and stop() from any thread; everything that is posted, and the duties, run on
// the thread. Lifetime: the desk and what the duties use outlive stop(). Bounds: events_max events
// wait.
#pragma once

#include <functional>
#include <thread>

#include "decisions/inference/desk.h"
#include "platform/runtime/event_queue.h"

namespace weft::coordinator {

class InferenceThread {
 public:
  using Event = std::function<void(inference::Desk&, Instant)>;
  // What the thread does besides events.
  struct Duties {
    // Whether clients wait, so that it is to look every 50 ms whether they are still there.
    std::function<bool()> clients_wait;
    std::function<void(Instant)> look;
    std::function<void()> end;  // Last of all; nothing can be posted then.
  };

  InferenceThread() = default;
  InferenceThread(const InferenceThread&) = delete;
  ~InferenceThread() { stop(); }

  void start(inference::Desk& desk, Duties duties);
  // False if too many events wait, or the thread is being stopped: the event is dropped.
  [[nodiscard]] bool post(Event event) { return queue_.post(std::move(event)); }
  // Handles what waits, does the last duty, and joins the thread.
  void stop();

 private:
  static constexpr std::size_t events_max = 65536;
  void run(inference::Desk& desk, const Duties& duties);

  runtime::EventQueue<Event> queue_{events_max};
  std::thread thread_;
};

// What a client is told where post() is false.
[[nodiscard]] Error busy_error();

}  // namespace weft::coordinator
