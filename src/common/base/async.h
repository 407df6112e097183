// Async<T> is our coroutine. It is lazy: it starts when its one owner awaits it, and resumes that
// owner when it is done (symmetric transfer, so chains do not grow the stack). The same code runs
// natively and in the browser.
//
//   // Parameters are passed by value; references only to objects that outlive the scope.
//   Async<Result<Bytes>> load(std::string name);
//   Result<Bytes> bytes = co_await load("a");
//
// start() runs an Async<void> that is not awaited. Pending<T> passes a value from a callback to a
// coroutine. Threading: these types and functions take no locks. A coroutine runs on the thread
// that resumes it.
#pragma once

#include <coroutine>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "common/base/check.h"

namespace weft {

template <class T = void>
class Async;

namespace async_detail {

struct PromiseBase {
  std::coroutine_handle<> continuation = std::noop_coroutine();

  struct Final {
    bool await_ready() const noexcept { return false; }
    template <class Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> self) const noexcept {
      return self.promise().continuation;
    }
    void await_resume() const noexcept {}
  };

  std::suspend_always initial_suspend() const noexcept { return {}; }
  Final final_suspend() const noexcept { return {}; }
  void unhandled_exception() const noexcept { std::terminate(); }
};

template <class T>
struct Promise : PromiseBase {
  std::optional<T> value;
  Async<T> get_return_object();
  template <class U>
  void return_value(U&& result) {
    value.emplace(std::forward<U>(result));
  }
  T take() { return std::move(*value); }
};

template <>
struct Promise<void> : PromiseBase {
  Async<void> get_return_object();
  void return_void() const {}
  void take() const {}
};

}  // namespace async_detail

template <class T>
class [[nodiscard]] Async {
 public:
  using promise_type = async_detail::Promise<T>;

  explicit Async(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  Async(Async&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  Async& operator=(Async&&) = delete;
  ~Async() {
    if (handle_) handle_.destroy();
  }

  bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> awaiting) noexcept {
    handle_.promise().continuation = awaiting;
    return handle_;
  }
  T await_resume() { return handle_.promise().take(); }

 private:
  std::coroutine_handle<promise_type> handle_;
};

namespace async_detail {

template <class T>
Async<T> Promise<T>::get_return_object() {
  return Async<T>(std::coroutine_handle<Promise>::from_promise(*this));
}
inline Async<void> Promise<void>::get_return_object() {
  return Async<void>(std::coroutine_handle<Promise>::from_promise(*this));
}

// A coroutine that owns itself: it starts at once and frees itself at its end.
struct Detached {
  struct promise_type {
    Detached get_return_object() const noexcept { return {}; }
    std::suspend_never initial_suspend() const noexcept { return {}; }
    std::suspend_never final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    void unhandled_exception() const noexcept { std::terminate(); }
  };
};

inline Detached run_detached(Async<void> work) { co_await work; }

template <class T>
Detached run_detached_into(Async<T> work, std::function<void(T)> done) {
  done(co_await work);
}

}  // namespace async_detail

// Runs `work` up to its first wait, and the rest when the work is resumed. All objects to which the
// work refers must outlive it.
inline void start(Async<void> work) { async_detail::run_detached(std::move(work)); }

// Runs `work` as start(Async<void>) does, and passes its result to `done`.
template <class T>
void start(Async<T> work, std::function<void(T)> done) {
  async_detail::run_detached_into<T>(std::move(work), std::move(done));
}

// A value that comes later, from a callback. It is set once and awaited once, in either order.
// set() resumes the waiting coroutine directly. Copies share one state, so that a callback may
// outlive the waiting coroutine.
template <class T>
class Pending {
 public:
  void set(T value) const {
    check(!state_->value.has_value(), "a Pending is set once");
    state_->value.emplace(std::move(value));
    if (auto waiter = std::exchange(state_->waiter, {})) waiter.resume();
  }
  [[nodiscard]] bool is_set() const { return state_->value.has_value(); }

  bool await_ready() const noexcept { return state_->value.has_value(); }
  void await_suspend(std::coroutine_handle<> waiter) const noexcept { state_->waiter = waiter; }
  T await_resume() const { return std::move(*state_->value); }

 private:
  struct State {
    std::optional<T> value;
    std::coroutine_handle<> waiter;
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace weft
