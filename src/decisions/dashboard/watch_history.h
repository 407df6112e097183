// The network's activity in each second of the last minutes, for the dashboard's charts. Pure: the
// time is passed in.
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

  // The state of the network at the end of a second.
  struct Gauges {
    std::uint32_t workers = 0;
    std::uint32_t open = 0;
    MicroCredits per_unit = 0;
  };

  // Counts an accepted task. `latency` begins with the task's first lease.
  void accepted(Duration latency, MicroCredits paid);
  void refused() { ++now_.refused; }

  // True if the second that is being counted is over: call roll() then.
  [[nodiscard]] bool is_over(UnixMillis time) const { return time / 1000 > second_; }
  // Ends the second. Seconds in which this was not called get empty rows with these gauges.
  void roll(UnixMillis time, const Gauges& gauges);

  // The number of rows so far, which is the number of the next row.
  [[nodiscard]] std::uint64_t rows() const { return rows_ended_; }
  // The rows from this number on, as far as they are kept.
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

  std::int64_t second_ = 0;  // The second that is being counted.
  Row now_;
  std::vector<double> latencies_;
  std::deque<Row> rows_;
  std::uint64_t rows_ended_ = 0;
};

}  // namespace weft::dashboard
