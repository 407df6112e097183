// The operations under way on one Dawn instance, and the loop that runs their callbacks.
//
// Dawn's callbacks run inside WaitAny() and may start further operations, so the wait uses a copy
// of the list. Callbacks only fill in results and put waiters into the ready queue, and poll()
// resumes the waiters afterwards. Threading: one thread. Lifetime: shared by the instance and its
// devices.
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include <dawn/native/DawnNative.h>
#include <dawn/webgpu_cpp.h>

#include "engine/gpu/backend.h"

namespace weft::gpu::native {

class Loop {
 public:
  Loop();
  Loop(const Loop&) = delete;

  [[nodiscard]] dawn::native::Instance& dawn() { return *dawn_; }
  [[nodiscard]] const wgpu::Instance& instance() const { return instance_; }
  [[nodiscard]] const std::shared_ptr<ReadyQueue>& ready() const { return ready_; }

  // Adds an operation. `source` is the object that completes it: a device's queue, or the device
  // for an operation that no queue runs.
  void add(wgpu::Future future, const void* source);
  // Adds a device whose loss poll() announces.
  void watch(const SharedHealth& health) { watched_.push_back(health); }
  bool poll(std::chrono::nanoseconds timeout);
  // Lets poll() ask for results again and again, instead of blocking, until `time` has passed since
  // the latest operation was added. A thread that blocks wakes up some 0.1 ms after a GPU has
  // answered, which is long compared with a frame of a detector. 0, the initial value: poll() never
  // waits busily.
  void set_busy_wait(std::chrono::nanoseconds time) { busy_wait_ = time; }
  // Keeps an object that Dawn's callbacks point to until Dawn itself is destroyed.
  template <class T>
  T& keep(std::shared_ptr<T> object) {
    T& kept = *object;
    kept_.push_back(std::move(object));
    return kept;
  }

 private:
  bool collect(std::chrono::nanoseconds timeout);

  std::vector<std::shared_ptr<void>> kept_;  // The first member, so that it is destroyed last.
  std::unique_ptr<dawn::native::Instance> dawn_;
  wgpu::Instance instance_;
  struct Pending {
    wgpu::Future future;
    const void* source;
  };
  std::vector<Pending> pending_;  // The pending operations, the oldest first.
  std::chrono::nanoseconds busy_wait_{0};
  std::chrono::steady_clock::time_point latest_{};  // The time of the latest add().
  std::vector<std::weak_ptr<Guarded<Health>>> watched_;
  std::shared_ptr<ReadyQueue> ready_ = std::make_shared<ReadyQueue>();
};

}  // namespace weft::gpu::native
