#include "decisions/dashboard/watch_history.h"

#include <algorithm>

namespace weft::dashboard {

void WatchHistory::accepted(Duration latency, MicroCredits paid) {
  ++now_.accepted;
  now_.paid += paid;
  if (latencies_.size() < samples_max) latencies_.push_back(seconds(latency) * 1000);
}

void WatchHistory::roll(UnixMillis time, const Gauges& gauges) {
  const std::int64_t second = time / 1000;
  if (second_ == 0)
    second_ = second - 1;  // In the first call, earlier events belong to the previous second.
  // A clock that was set forward makes no more rows than are kept.
  second_ = std::max(second_, second - static_cast<std::int64_t>(seconds_max));
  for (; second_ < second; ++second_) end_row(gauges);
}

void WatchHistory::end_row(const Gauges& gauges) {
  now_.time = second_ * 1000;
  now_.gauges = gauges;
  if (!latencies_.empty()) {
    const auto quantile = [this](double share) {
      const auto at =
          static_cast<std::ptrdiff_t>(share * static_cast<double>(latencies_.size() - 1));
      std::ranges::nth_element(latencies_, latencies_.begin() + at);
      return latencies_[static_cast<std::size_t>(at)];
    };
    now_.latency_ms = quantile(0.5);
    now_.latency_high_ms = quantile(0.9);
  }
  rows_.push_back(now_);
  if (rows_.size() > seconds_max) rows_.pop_front();
  ++rows_ended_;
  now_ = {};
  latencies_.clear();
}

protocol::watch::History WatchHistory::since(std::uint64_t row) const {
  const std::uint64_t oldest = rows_ended_ - rows_.size();
  protocol::watch::History history;
  for (std::uint64_t number = std::max(row, oldest); number < rows_ended_; ++number) {
    const Row& kept = rows_[number - oldest];
    history.time.push_back(kept.time);
    history.accepted.push_back(kept.accepted);
    history.refused.push_back(kept.refused);
    history.paid.push_back(kept.paid);
    history.latency_ms.push_back(kept.latency_ms);
    history.latency_high_ms.push_back(kept.latency_high_ms);
    history.workers.push_back(kept.gauges.workers);
    history.open.push_back(kept.gauges.open);
    history.per_unit.push_back(kept.gauges.per_unit);
  }
  return history;
}

}  // namespace weft::dashboard
