#include "worker/tasks/rests.h"

#include <utility>

namespace weft::worker {

Rests::Rests(Host& host, Options options, std::function<void()> ended)
    : host_(host), options_(std::move(options)), ended_(std::move(ended)) {}

void Rests::after(Duration worked) {
  const auto rest = std::chrono::duration_cast<Duration>(worked * ((1 - share_) / share_));
  if (rest <= Duration::zero() || stopped_) return;
  resting_ = true;
  if (rest >= options_.told_min && options_.on_rest) options_.on_rest(true);
  host_.after(rest, alive_.guard([this, number = ++rests_] {
    if (resting_ && number == rests_) end();
  }));
}

void Rests::end() {
  resting_ = false;
  if (options_.on_rest) options_.on_rest(false);
  ended_();
}

void Rests::throttle(double share) {
  share_ = share;
  if (resting_) end();
}

}  // namespace weft::worker
