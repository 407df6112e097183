// Decides how many draws go into one submit: several if they together take less time than a
// listener notices, so that a quick device does not wait for the CPU between them.
//
// Pure: the time is passed in. Threading: one thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace weft::llm {

class StepPacer {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t steps_max = 4;
  static constexpr auto submit_time_max = std::chrono::milliseconds(8);

  [[nodiscard]] std::size_t steps() const { return steps_; }

  // Measures the time of a draw while other draws are under way, and decides the number of steps by
  // it. Call it when a draw came back, with the number of other draws under way.
  void taken(std::size_t under_way, Clock::time_point now) {
    ++taken_;
    if (under_way % steps_ != 0) return;
    if (since_ && under_way > 0) {
      const auto step = (now - *since_) / taken_;
      steps_ = step * steps_max < submit_time_max ? steps_max : 1;
    }
    since_ = under_way == 0 ? std::nullopt : std::optional(now);
    taken_ = 0;
  }

 private:
  std::size_t steps_ = 1;
  std::int64_t taken_ = 0;  // The number of draws since the time since_.
  std::optional<Clock::time_point> since_;
};

}  // namespace weft::llm
