// The exit codes of commands: 0 done, 1 failed, 2 wrong input, 3 try again later, 130 interrupted.
#pragma once

#include "common/base/result.h"

namespace weft::cli {

[[nodiscard]] constexpr int exit_code(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument:
    case ErrorCode::not_found:
    case ErrorCode::already_exists:
    case ErrorCode::unsupported:
      return 2;
    case ErrorCode::unavailable:
    case ErrorCode::deadline_exceeded:
    case ErrorCode::resource_exhausted:
      return 3;
    case ErrorCode::cancelled:
      return 130;
    default:
      return 1;
  }
}

// Prints "weft COMMAND: message" to standard error and returns the exit code of the error.
int report(const char* command, const Error& error);

}  // namespace weft::cli
