// For the owner of a native thread: polls the waits of an instance. Engine code never needs this;
// it awaits.
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

// An instance whose waits continue only while its owner polls: native and null (in the browser the
// event loop does it).
class PumpedInstance : public Instance {
 public:
  // Waits until something that is under way is done, at most `timeout`, and resumes all that waited
  // for it. Returns at once when nothing is under way. Whether anything was resumed.
  virtual bool poll(std::chrono::nanoseconds timeout) = 0;
};

// Runs `work` to its end and gives back its result. Blocks; not for use inside a coroutine.
template <class T>
T run(PumpedInstance& instance, Async<T> work) {
  using namespace std::chrono_literals;
  std::optional<T> result;
  start<T>(std::move(work), [&result](T value) { result.emplace(std::move(value)); });
  while (!result) {
    // Nothing resumed: the work may wait for another thread, which no poll can see.
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
