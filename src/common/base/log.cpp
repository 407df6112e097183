#include "common/base/log.h"

#include <atomic>
#include <cstdio>
#include <string>

#include "common/base/clock.h"
#include "common/base/format.h"
#include "common/base/log_escapes.h"

namespace weft {
namespace {

std::atomic<LogLevel> level_min{LogLevel::info};
std::atomic<bool> escapes{true};

// Strangers' text becomes part of lines: what could begin another line or steer a terminal is
// written as \xNN. Bytes of UTF-8 stay, but for the control characters U+0080 to U+009F.
std::string without_controls(std::string_view text) {
  if (!escapes.load(std::memory_order_relaxed)) return std::string(text);
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0U;
    if (byte < 0x20 || byte == 0x7f) {
      out += weft::format("\\x{:02x}", static_cast<unsigned>(byte));
    } else if (byte == 0xc2 && next >= 0x80 && next <= 0x9f) {
      out += weft::format("\\x{:02x}", next);
      ++i;
    } else {
      out += text[i];
    }
  }
  return out;
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
              stderr);  // One write: lines of several threads do not mix.
}

}  // namespace weft
