// Runs a coroutine that never waits, such as the CPU engine's, and gives back its result.
#pragma once

#include <optional>
#include <utility>

#include "common/base/async.h"

namespace weft::llm {

template <class T>
T run_now(Async<T> work) {
  std::optional<T> result;
  start<T>(std::move(work), [&result](T value) { result.emplace(std::move(value)); });
  check(result.has_value(), "the work does not wait");
  return std::move(*result);
}

}  // namespace weft::llm
