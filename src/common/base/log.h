// The program's messages to its user: one line for each event on standard error, in the browser on
// the console. Results go to standard output and are never logged.
#pragma once

#include <string_view>
#include <utility>

#include "common/base/format.h"

namespace weft {

enum class LogLevel { debug, info, warning, error };

// Sets the least level: lines below it are dropped. The level is info until this is called.
void set_log_level(LogLevel level);
[[nodiscard]] LogLevel log_level();
// Writes one line, which lines of other threads never interrupt. Thread-safe.
void log_line(LogLevel level, std::string_view text);

template <class... Args>
void log(LogLevel level, FormatString<Args...> format, Args&&... args) {
  if (level >= log_level()) log_line(level, weft::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void log_debug(FormatString<Args...> format, Args&&... args) {
  log(LogLevel::debug, format, std::forward<Args>(args)...);
}
template <class... Args>
void log_info(FormatString<Args...> format, Args&&... args) {
  log(LogLevel::info, format, std::forward<Args>(args)...);
}
template <class... Args>
void log_warning(FormatString<Args...> format, Args&&... args) {
  log(LogLevel::warning, format, std::forward<Args>(args)...);
}
template <class... Args>
void log_error(FormatString<Args...> format, Args&&... args) {
  log(LogLevel::error, format, std::forward<Args>(args)...);
}

}  // namespace weft
