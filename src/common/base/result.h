// Errors of a correct program: Result<T> is a value or an Error. Nothing throws.
//
// A message states the fact in the present tense with its values, and says what to do if that is
// not obvious. A layer that knows more adds "while ..." on the way up.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <utility>

#include "common/base/format.h"

namespace weft {

// The code says what a caller can do about the error, not where the error occurred. The HTTP status
// and the exit code follow from it (see http_status in platform/net and exit_code in apps/cli).
enum class ErrorCode : std::uint8_t {
  invalid_argument,    // The input is wrong and would fail again.
  not_found,           // The thing that the caller names does not exist.
  already_exists,      // The thing exists already, or the action was done already.
  unauthenticated,     // The proof of the caller's identity is missing or wrong.
  permission_denied,   // The caller is known but not allowed to do this.
  insufficient_funds,  // The account does not have enough credits.
  resource_exhausted,  // A bound was reached; the message names the option that raises it.
  out_of_memory,       // Host or GPU memory is exhausted.
  deadline_exceeded,   // The operation took longer than its time limit.
  cancelled,           // The caller or an operator asked to stop.
  unavailable,         // No connection or no GPU now: try again later or elsewhere.
  device_lost,         // The GPU device went away; make a new one.
  data_loss,           // Stored bytes differ from the bytes that were written.
  unsupported,         // This build or this device cannot do the operation.
  internal,            // A library failed for a reason other than the input.
};

// The word for the code, "invalid_argument" and so on, as in messages on the wire.
[[nodiscard]] std::string_view to_string(ErrorCode code);
// The code for the word; `internal` for an unknown word.
[[nodiscard]] ErrorCode error_code_from(std::string_view word);

struct Error {
  ErrorCode code = ErrorCode::internal;
  std::string message;

  friend bool operator==(const Error&, const Error&) = default;
};

template <class T = void>
using Result = std::expected<T, Error>;

// Makes an error: return fail(ErrorCode::not_found, "No file named '{}'.", name);
template <class... Args>
[[nodiscard]] std::unexpected<Error> fail(ErrorCode code, FormatString<Args...> format,
                                          Args&&... args) {
  return std::unexpected(Error{code, weft::format(format, std::forward<Args>(args)...)});
}

// Passes an error on unchanged: return pass(result);
template <class T>
[[nodiscard]] std::unexpected<Error> pass(Result<T>&& result) {
  return std::unexpected(std::move(result.error()));
}

// Passes an error on with " - while ..." appended: return pass(result, "while reading {}", path);
template <class T, class... Args>
[[nodiscard]] std::unexpected<Error> pass(Result<T>&& result, FormatString<Args...> format,
                                          Args&&... args) {
  Error error = std::move(result.error());
  error.message += " - " + weft::format(format, std::forward<Args>(args)...);
  return std::unexpected(std::move(error));
}

}  // namespace weft

// WEFT_ASSIGN(auto file, open(path)) declares `file`, or returns the error from the enclosing
// function. WEFT_OK(write(file)) returns the error of a Result<> in this way. The CO_ forms are for
// coroutines (the expression may co_await).
#define WEFT_JOIN_2(a, b) a##b
#define WEFT_JOIN(a, b) WEFT_JOIN_2(a, b)
#define WEFT_ASSIGN_AS(name, declaration, expression, leave)                \
  auto name = (expression);                                                 \
  if (!name) leave std::unexpected<::weft::Error>(std::move(name).error()); \
  declaration = std::move(*name)
#define WEFT_ASSIGN(declaration, ...) \
  WEFT_ASSIGN_AS(WEFT_JOIN(weft_result_, __COUNTER__), declaration, (__VA_ARGS__), return)
#define WEFT_CO_ASSIGN(declaration, ...) \
  WEFT_ASSIGN_AS(WEFT_JOIN(weft_result_, __COUNTER__), declaration, (__VA_ARGS__), co_return)
#define WEFT_OK(...)                                                            \
  do {                                                                          \
    if (auto weft_result_ok = (__VA_ARGS__); !weft_result_ok)                   \
      return std::unexpected<::weft::Error>(std::move(weft_result_ok).error()); \
  } while (false)
#define WEFT_CO_OK(...)                                                            \
  do {                                                                             \
    if (auto weft_result_ok = (__VA_ARGS__); !weft_result_ok)                      \
      co_return std::unexpected<::weft::Error>(std::move(weft_result_ok).error()); \
  } while (false)
