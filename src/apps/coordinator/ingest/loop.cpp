#include "apps/coordinator/ingest/loop.h"

#include <algorithm>
#include <vector>

namespace weft::coordinator {

void Loop::start(jobs::Core& core) {
  thread_ = std::thread([this, &core] { run(core); });
}

// The woken thread finds the lock free. Only the first event has to wake it: the loop takes all
// that is there.
bool Loop::post(Event event) {
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    if (ending_ || queue_.size() >= events_max) return false;
    first = queue_.empty();
    queue_.push_back(std::move(event));
  }
  if (first) more_.notify_one();
  return true;
}

void Loop::post_always(Event event) {
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    first = queue_.empty();
    queue_.push_back(std::move(event));
  }
  if (first) more_.notify_one();
}

void Loop::stop() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    more_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
}

void Loop::run(jobs::Core& core) {
  // Nothing is due within this, whatever the core says: a bound on how late a mistake could make
  // us.
  constexpr auto sleep_max = std::chrono::seconds(1);
  std::vector<Event> events;
  for (;;) {
    bool ending = false;
    {
      std::unique_lock lock(mutex_);
      const Instant wake =
          std::min(core.next_deadline().value_or(Instant::max()), now() + sleep_max);
      more_.wait_until(lock, wake, [&] { return ending_ || !queue_.empty(); });
      const std::size_t count = std::min(queue_.size(), batch_max);
      events.assign(std::make_move_iterator(queue_.begin()),
                    std::make_move_iterator(queue_.begin() + static_cast<std::ptrdiff_t>(count)));
      queue_.erase(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(count));
      ending = ending_ && queue_.empty();
    }
    const jobs::Moment moment{.at = now(), .unix = unix_now()};
    for (auto& event : events) event(core, moment);
    events.clear();
    core.flush(moment);
    if (ending) return;
  }
}

}  // namespace weft::coordinator
