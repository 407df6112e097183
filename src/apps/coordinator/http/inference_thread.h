// The thread that runs decisions/inference. It owns no state, runs posted events in order, and
// ticks the desk at its deadlines.
//
// Threading: post() and stop() from any thread; posted events and the duties run on this thread.
// Lifetime: the desk and the objects that the duties use outlive stop(). Bounds: at most events_max
// events wait.
#pragma once

#include <functional>
#include <thread>

#include "decisions/inference/desk.h"
#include "platform/runtime/event_queue.h"

namespace weft::coordinator {

class InferenceThread {
 public:
  using Event = std::function<void(inference::Desk&, Instant)>;
  // The work that the thread does besides handling events.
  struct Duties {
    // True if clients wait. The thread then calls look() every 50 ms to check that they are still
    // connected.
    std::function<bool()> clients_wait;
    std::function<void(Instant)> look;
    std::function<void()> end;  // Called last; no event can be posted then.
  };

  InferenceThread() = default;
  InferenceThread(const InferenceThread&) = delete;
  ~InferenceThread() { stop(); }

  void start(inference::Desk& desk, Duties duties);
  // Returns false and drops the event if too many events wait or the thread is being stopped.
  [[nodiscard]] bool post(Event event) { return queue_.post(std::move(event)); }
  // Runs the waiting events and the last duty, and joins the thread.
  void stop();

 private:
  static constexpr std::size_t events_max = 65536;
  void run(inference::Desk& desk, const Duties& duties);

  runtime::EventQueue<Event> queue_{events_max};
  std::thread thread_;
};

// The error for a client whose event could not be posted.
[[nodiscard]] Error busy_error();

}  // namespace weft::coordinator
