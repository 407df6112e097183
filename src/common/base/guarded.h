// Data that can be reached only under its lock: guarded.with([](State& state) { ... }).
#pragma once

#include <mutex>
#include <utility>

namespace weft {

template <class T>
class Guarded {
 public:
  Guarded() = default;
  explicit Guarded(T value) : value_(std::move(value)) {}

  template <class Use>
  decltype(auto) with(Use&& use) {
    const std::lock_guard lock(mutex_);
    return std::forward<Use>(use)(value_);
  }
  template <class Use>
  decltype(auto) with(Use&& use) const {
    const std::lock_guard lock(mutex_);
    return std::forward<Use>(use)(value_);
  }

 private:
  mutable std::mutex mutex_;
  T value_{};
};

}  // namespace weft
