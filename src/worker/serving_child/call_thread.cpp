#include "worker/serving_child/call_thread.h"

#include <utility>

namespace weft::worker {

CallThread::CallThread(Post post) : post_(std::move(post)), thread_([this] { serve(); }) {}

CallThread::~CallThread() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  more_.notify_one();
  thread_.join();
}

Async<> CallThread::run(std::function<void()> call) {
  const Pending<bool> made;
  {
    const std::lock_guard lock(mutex_);
    calls_.push_back([this, call = std::move(call), made] {
      call();
      post_([made] { made.set(true); });
    });
  }
  more_.notify_one();
  (void)co_await made;
}

void CallThread::serve() {
  for (;;) {
    std::unique_lock lock(mutex_);
    more_.wait(lock, [this] { return ending_ || !calls_.empty(); });
    if (ending_) return;
    const auto call = std::move(calls_.front());
    calls_.pop_front();
    lock.unlock();
    call();
  }
}

}  // namespace weft::worker
