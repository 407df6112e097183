// The connection between a backend's asynchronous operation and the coroutine that waits for it.
//
//   Wait<> wait(backend.ready());
//   backend.idle(wait.completion());      // started now; several may be under way
//   Result<> result = co_await wait;
//
// A completion never resumes a waiter by itself: it puts the waiter into the ReadyQueue, and the
// owner of the thread resumes it from there, so that no coroutine runs inside a driver's callback.
// Threading: all objects of one queue belong to one thread. Lifetime: a waiter may be destroyed
// while its operation is under way; the completion is then ignored, and wanted() tells a backend so
// that it does not write through a pointer of the waiter.
#pragma once

#include <coroutine>
#include <deque>
#include <memory>
#include <optional>
#include <utility>

#include "common/base/check.h"
#include "common/base/result.h"

namespace weft::gpu {

struct WaitState {
  std::coroutine_handle<> waiter;
  bool abandoned = false;
};

class ReadyQueue {
 public:
  void push(std::shared_ptr<WaitState> state) { ready_.push_back(std::move(state)); }
  [[nodiscard]] bool empty() const { return ready_.empty(); }

  // Resumes all waiters that are ready, and those that become ready meanwhile. True if any was
  // resumed. A nested call does nothing.
  bool drain() {
    if (draining_) return false;
    draining_ = true;
    bool any = false;
    while (!ready_.empty()) {
      const std::shared_ptr<WaitState> state = std::move(ready_.front());
      ready_.pop_front();
      if (auto waiter = std::exchange(state->waiter, {})) {
        any = true;
        waiter.resume();
      }
    }
    draining_ = false;
    return any;
  }

 private:
  std::deque<std::shared_ptr<WaitState>> ready_;
  bool draining_ = false;
};

template <class T>
struct WaitStateOf : WaitState {
  std::optional<Result<T>> result;
};

// The backend's end of a wait. The backend calls it once, with the result. Copies share one result.
template <class T = void>
class Completion {
 public:
  Completion(std::shared_ptr<WaitStateOf<T>> state, std::shared_ptr<ReadyQueue> ready)
      : state_(std::move(state)), ready_(std::move(ready)) {}

  void operator()(Result<T> result) const {
    check(!state_->result.has_value(), "an operation completes once");
    state_->result.emplace(std::move(result));
    if (state_->waiter) ready_->push(state_);
  }
  // False if the waiter was destroyed, so that the result will not be read.
  [[nodiscard]] bool wanted() const { return !state_->abandoned; }

 private:
  std::shared_ptr<WaitStateOf<T>> state_;
  std::shared_ptr<ReadyQueue> ready_;
};

// The coroutine's end of a wait. The coroutine awaits it once.
template <class T = void>
class Wait {
 public:
  explicit Wait(std::shared_ptr<ReadyQueue> ready) : ready_(std::move(ready)) {}
  Wait(Wait&& other) noexcept = default;
  Wait& operator=(Wait&& other) noexcept {
    abandon();
    state_ = std::move(other.state_);
    ready_ = std::move(other.ready_);
    return *this;
  }
  ~Wait() { abandon(); }

  [[nodiscard]] Completion<T> completion() const { return Completion<T>(state_, ready_); }
  [[nodiscard]] bool done() const { return state_->result.has_value(); }

  bool await_ready() const noexcept { return done(); }
  void await_suspend(std::coroutine_handle<> waiter) const noexcept { state_->waiter = waiter; }
  Result<T> await_resume() const { return std::move(*state_->result); }

 private:
  void abandon() {
    if (!state_) return;
    state_->abandoned = true;
    state_->waiter = {};
  }

  std::shared_ptr<ReadyQueue> ready_;
  std::shared_ptr<WaitStateOf<T>> state_ = std::make_shared<WaitStateOf<T>>();
};

}  // namespace weft::gpu
