// What the network did, second by second, for the last minutes: what the dashboard's charts show.
// Pure: the time is passed in.
//
// Bounds: seconds_max rows; latencies of at most samples_max tasks of one second count.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "common/base/clock.h"
#include "common/base/ids.h"
#include "common/protocol/watch.h"

namespace weft::dashboard {

class WatchHistory {
 public:
  static constexpr std::size_t seconds_max = 600;
  static constexpr std::size_t samples_max = 1024;

  // What is so at the end of a second, whatever happened in it.
  struct Gauges {
    std::uint32_t workers = 0;
    std::uint32_t open = 0;
    MicroCredits per_unit = 0;
  };

  // `latency` is from the task's first lease on.
  void accepted(Duration latency, MicroCredits paid);
  void refused() { ++now_.refused; }

  // True where the second that is being counted is over: call roll().
  [[nodiscard]] bool is_over(UnixMillis time) const { return time / 1000 > second_; }
  // Ends it. Seconds without a call are rows of nothing, with these gauges.
  void roll(UnixMillis time, const Gauges& gauges);

  // How many rows there ever were; the next one has this number.
  [[nodiscard]] std::uint64_t rows() const { return rows_ended_; }
  // Rows from this number on, as far as they are kept.
  [[nodiscard]] protocol::watch::History since(std::uint64_t row) const;

 private:
  struct Row {
    std::int64_t time = 0;
    std::uint32_t accepted = 0;
    std::uint32_t refused = 0;
    MicroCredits paid = 0;
    double latency_ms = 0;
    double latency_high_ms = 0;
    Gauges gauges;
  };
  void end_row(const Gauges& gauges);

  std::int64_t second_ = 0;  // Being counted.
  Row now_;
  std::vector<double> latencies_;
  std::deque<Row> rows_;
  std::uint64_t rows_ended_ = 0;
};

}  // namespace weft::dashboard
