#include "apps/coordinator/ingest/loop.h"

#include <algorithm>
#include <vector>

namespace weft::coordinator {

void Loop::start(jobs::Core& core) {
  thread_ = std::thread([this, &core] { run(core); });
}

void Loop::stop() {
  queue_.end();
  if (thread_.joinable()) thread_.join();
}

void Loop::run(jobs::Core& core) {
  // The loop wakes at least once a second, so that a wrong deadline of the core delays it by a
  // second at most.
  constexpr auto sleep_max = std::chrono::seconds(1);
  std::vector<Event> events;
  for (;;) {
    const Instant due = clock_.of_machine(core.next_deadline().value_or(Instant::max()));
    const Instant wake = std::min(due, now() + sleep_max);
    const bool ending = queue_.take(events, wake, batch_max);
    const jobs::Moment moment{.at = clock_.turn(now()), .unix = unix_now()};
    for (auto& event : events) event(core, moment);
    events.clear();
    core.flush(moment);
    if (ending) return;
  }
}

}  // namespace weft::coordinator
