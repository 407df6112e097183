// Handles Ctrl-C for commands that must print or clean up before they end. Other commands leave the
// signal's default, which ends them at once.
#pragma once

#include <chrono>

#include "common/base/result.h"

namespace weft::cli {

// Makes SIGINT and SIGTERM be noted instead of ending the program; a second signal ends the program
// at once.
void note_interruptions();
[[nodiscard]] bool interrupted();
// Sleeps for `time`, or until a signal arrives.
void sleep_unless_interrupted(std::chrono::milliseconds time);
// Returns `result`, or cancelled if it is an error and a signal came, because the signal is then
// the reason of the error.
template <class T>
[[nodiscard]] Result<T> unless_interrupted(Result<T> result) {
  if (interrupted()) return fail(ErrorCode::cancelled, "Interrupted.");
  return result;
}

}  // namespace weft::cli
