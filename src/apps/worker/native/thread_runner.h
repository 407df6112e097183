// A TaskRunner for work that blocks: the work runs on a thread of its own, and results are posted
// to the session's thread.
//
// Threading: run() and cancel() on the session's thread. Lifetime: the destructor interrupts the
// running work and waits for its end.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "worker/tasks/host.h"

namespace weft::worker {

// Work that blocks and can be interrupted.
class BlockingRunner {
 public:
  virtual ~BlockingRunner() = default;
  [[nodiscard]] virtual Result<exec::Output> run(const TaskRun& task) = 0;
  // Called from another thread: makes run() return soon, with any error.
  virtual void interrupt() = 0;
};

class ThreadRunner final : public TaskRunner {
 public:
  using Post = std::function<void(std::function<void()>)>;  // Runs work on the session's thread.

  ThreadRunner(BlockingRunner& work, Post post);
  ~ThreadRunner() override;
  void run(TaskRun task, std::function<void(Result<exec::Output>)> done) override;
  void cancel() override;

 private:
  struct Order {
    TaskRun task;
    std::function<void(Result<exec::Output>)> done;
  };
  void serve();

  BlockingRunner& work_;
  const Post post_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Order> order_;
  bool running_ = false;
  bool cancelled_ = false;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace weft::worker
