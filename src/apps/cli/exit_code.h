// What a command tells the shell: 0 done, 1 it failed, 2 the input was wrong, 3 try again later,
// 130 interrupted.
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

// Prints "weft COMMAND: message" to standard error and gives the exit code.
int report(const char* command, const Error& error);

}  // namespace weft::cli
