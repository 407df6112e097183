// Makes the Callback of an asynchronous import: it sets the completion and resumes the waiters, in
// the browser's microtask. The text of a failure is its message.
#pragma once

#include <memory>
#include <utility>

#include "engine/gpu/completion.h"
#include "engine/gpu/web/imports.h"

namespace weft::gpu::web {

[[nodiscard]] inline ErrorCode to_code(StatusCode status) {
  switch (status) {
    case StatusCode::invalid_argument:
      return ErrorCode::invalid_argument;
    case StatusCode::out_of_memory:
      return ErrorCode::out_of_memory;
    case StatusCode::unavailable:
      return ErrorCode::unavailable;
    case StatusCode::device_lost:
      return ErrorCode::device_lost;
    case StatusCode::cancelled:
      return ErrorCode::cancelled;
    case StatusCode::ok:
    case StatusCode::internal:
      break;
  }
  return ErrorCode::internal;
}

// `convert(value, text)` returns the result of a success.
template <class T, class Convert>
[[nodiscard]] Callback* operation(std::shared_ptr<ReadyQueue> ready, Completion<T> done,
                                  Convert convert) {
  auto* callback = new Callback;
  callback->wanted = [done] { return done.wanted(); };
  callback->call = [ready = std::move(ready), done, convert = std::move(convert)](
                       StatusCode status, double value, std::string_view text) {
    if (status == StatusCode::ok) {
      done(convert(value, text));
    } else {
      done(std::unexpected(Error{to_code(status), std::string(text)}));
    }
    ready->drain();
  };
  return callback;
}

}  // namespace weft::gpu::web
