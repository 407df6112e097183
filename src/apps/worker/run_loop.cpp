#include "apps/worker/run_loop.h"

#include <utility>

namespace weft::worker {

void RunLoop::post(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    posted_.push_back(std::move(work));
  }
  changed_.notify_one();
}

void RunLoop::after(Duration delay, std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    timers_.push({.at = now() + delay, .serial = ++serial_, .work = std::move(work)});
  }
  changed_.notify_one();
}

void RunLoop::quit() {
  {
    const std::lock_guard lock(mutex_);
    quitting_ = true;
  }
  changed_.notify_one();
}

void RunLoop::run() {
  std::unique_lock lock(mutex_);
  while (!quitting_) {
    std::function<void()> work;
    if (!posted_.empty()) {
      work = std::move(posted_.front());
      posted_.pop_front();
    } else if (!timers_.empty() && timers_.top().at <= now()) {
      work = timers_.top().work;
      timers_.pop();
    } else if (timers_.empty()) {
      changed_.wait(lock);
      continue;
    } else {
      changed_.wait_until(lock, timers_.top().at);
      continue;
    }
    lock.unlock();
    work();
    work = {};  // What it holds is let go outside the lock.
    lock.lock();
  }
}

}  // namespace weft::worker
