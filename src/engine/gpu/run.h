// Runs work on an instance whose waits are polled by the owner of a native thread. Engine code only
// awaits and does not use run().
//
//   auto instance = native::create_instance();
//   Result<int> result = run(*instance, work(*instance));
#pragma once

#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include "common/base/async.h"
#include "engine/gpu/device.h"

namespace weft::gpu {

// An instance whose waits only continue while its owner polls: native and null. In the browser the
// event loop continues them.
class PumpedInstance : public Instance {
 public:
  // Waits at most `timeout` until an operation under way is done, and resumes all coroutines that
  // waited for it. Returns at once if no operation is under way. True if any coroutine was resumed.
  virtual bool poll(std::chrono::nanoseconds timeout) = 0;
};

// Runs `work` to its end and returns its result. run() blocks, so a coroutine must not call it.
template <class T>
T run(PumpedInstance& instance, Async<T> work) {
  using namespace std::chrono_literals;
  std::optional<T> result;
  start<T>(std::move(work), [&result](T value) { result.emplace(std::move(value)); });
  while (!result) {
    // If no coroutine was resumed, the work may wait for another thread, which poll() cannot see.
    if (!instance.poll(100ms) && !result) std::this_thread::sleep_for(200us);
  }
  return std::move(*result);
}

inline void run(PumpedInstance& instance, Async<void> work) {
  run(instance, [](Async<void> inner) -> Async<bool> {
    co_await std::move(inner);
    co_return true;
  }(std::move(work)));
}

}  // namespace weft::gpu
