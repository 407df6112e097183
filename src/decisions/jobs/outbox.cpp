#include "decisions/jobs/outbox.h"

namespace weft::jobs {

void Outbox::flush() {
  // A commit that lands calls flush() again.
  if (is_broken_ || flights_.size() >= flights_max_) return;
  if (batch_.empty() && effects_.empty()) return;
  Flight& flight = flights_.emplace_back();
  flight.number = flight_next_++;
  flight.effects = std::exchange(effects_, {});
  if (batch_.empty()) {
    flight.is_durable = true;
    return land();
  }
  ++commits_;
  world_.commit(std::exchange(batch_, {}), [this, number = flight.number](Result<> done) {
    if (!done) {
      is_broken_ = true;
      return world_.fatal(done.error());
    }
    for (Flight& waiting : flights_) {
      if (waiting.number == number) waiting.is_durable = true;
    }
    land();
  });
}

// Runs the effects of durable flushes, in order. Effects may cause events, but not from inside this
// call.
void Outbox::land() {
  while (!is_broken_ && !flights_.empty() && flights_.front().is_durable) {
    const auto ready = std::move(flights_.front().effects);
    flights_.pop_front();
    for (const auto& work : ready) work();
  }
}

}  // namespace weft::jobs
