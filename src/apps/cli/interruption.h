// What Ctrl-C does to a command that has something to say or to clean up before it ends. Commands
// that have nothing leave the signal as it is, which ends them at once.
#pragma once

#include <chrono>

#include "common/base/result.h"

namespace weft::cli {

// From now on SIGINT and SIGTERM are noted instead of ending the program; a second one ends it at
// once.
void note_interruptions();
[[nodiscard]] bool interrupted();
// Sleeps so long, or until a signal came.
void sleep_unless_interrupted(std::chrono::milliseconds time);
// `result`, or cancelled if a signal came: what was under way then failed for that reason, if it
// failed.
template <class T>
[[nodiscard]] Result<T> unless_interrupted(Result<T> result) {
  if (interrupted()) return fail(ErrorCode::cancelled, "Interrupted.");
  return result;
}

}  // namespace weft::cli
