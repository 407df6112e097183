#include "apps/coordinator/http/inference_thread.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace weft::coordinator {

void InferenceThread::start(inference::Desk& desk, Duties duties) {
  thread_ = std::thread([this, &desk, duties = std::move(duties)] { run(desk, duties); });
}

void InferenceThread::stop() {
  queue_.end();
  if (thread_.joinable()) thread_.join();
}

void InferenceThread::run(inference::Desk& desk, const Duties& duties) {
  constexpr Duration look_every = std::chrono::milliseconds(50);
  std::vector<Event> events;
  for (bool ending = false; !ending; events.clear()) {
    std::optional<Instant> wake = desk.next_deadline();
    if (duties.clients_wait()) wake = std::min(wake.value_or(Instant::max()), now() + look_every);
    ending = queue_.take(events, wake, events_max);
    const Instant time = now();
    for (const Event& event : events) event(desk, time);
    duties.look(time);
    desk.tick(time);
  }
  duties.end();
}

Error busy_error() {
  return {ErrorCode::unavailable, "The coordinator has too much to do; try again later."};
}

}  // namespace weft::coordinator
