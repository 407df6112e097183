#include "apps/worker/native/thread_runner.h"

#include "common/base/check.h"

namespace weft::worker {

ThreadRunner::ThreadRunner(BlockingRunner& work, Post post)
    : work_(work), post_(std::move(post)), thread_([this] { serve(); }) {}

ThreadRunner::~ThreadRunner() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    if (running_) work_.interrupt();
  }
  changed_.notify_one();
  thread_.join();
}

void ThreadRunner::run(TaskRun task, std::function<void(Result<exec::Output>)> done) {
  {
    const std::lock_guard lock(mutex_);
    check(!order_ && !running_, "one task at a time");
    cancelled_ = false;
    order_.emplace(std::move(task), std::move(done));
  }
  changed_.notify_one();
}

void ThreadRunner::cancel() {
  const std::lock_guard lock(mutex_);
  if (!order_ && !running_) return;
  cancelled_ = true;
  if (running_) work_.interrupt();
}

void ThreadRunner::serve() {
  for (;;) {
    std::optional<Order> order;
    bool cancelled = false;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return ending_ || order_; });
      if (ending_) return;
      order.swap(order_);
      running_ = true;
      cancelled = cancelled_;
    }
    Result<exec::Output> output = fail(ErrorCode::cancelled, "The task was cancelled.");
    if (!cancelled) output = work_.run(order->task);
    {
      const std::lock_guard lock(mutex_);
      running_ = false;
      if (cancelled_) output = fail(ErrorCode::cancelled, "The task was cancelled.");
    }
    post_([done = std::move(order->done), output = std::make_shared<Result<exec::Output>>(
                                              std::move(output))] { done(std::move(*output)); });
  }
}

}  // namespace weft::worker
