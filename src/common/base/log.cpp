#include "common/base/log.h"

#include <atomic>
#include <cstdio>
#include <string>

#include "common/base/clock.h"
#include "common/base/format.h"
#include "common/base/log_escapes.h"
#include "common/base/visible_text.h"

namespace weft {
namespace {

std::atomic<LogLevel> level_min{LogLevel::info};
std::atomic<bool> escapes{true};

// The text of a line of the log, with its control characters made visible unless
// set_log_escapes(false) was called.
std::string without_controls(std::string_view text) {
  return escapes.load(std::memory_order_relaxed) ? visible_text(text) : std::string(text);
}

}  // namespace

void set_log_level(LogLevel level) { level_min.store(level, std::memory_order_relaxed); }
LogLevel log_level() { return level_min.load(std::memory_order_relaxed); }

void set_log_escapes(bool on) { escapes.store(on, std::memory_order_relaxed); }

void log_line(LogLevel level, std::string_view text) {
  constexpr std::string_view names[] = {"debug", "info ", "warn ", "error"};
  const UnixMillis time = unix_now();
  const auto of_day = static_cast<long long>(time / 1000 % 86400);
  std::string line =
      weft::format("{:02}:{:02}:{:02}.{:03} {} {}\n", of_day / 3600, of_day / 60 % 60, of_day % 60,
                   time % 1000, names[static_cast<int>(level)], without_controls(text));
  std::fwrite(line.data(), 1, line.size(),
              stderr);  // A single write, so that lines of several threads do not mix.
}

}  // namespace weft
