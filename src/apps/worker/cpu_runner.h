// Runs a session's kernel tasks on the processor, in this process: the kernels are ours. On a thread of its own, in pieces,
// so that a deadline or a cancel is heeded between two of them.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "apps/worker/host.h"

namespace weft::worker {

class CpuRunner final : public TaskRunner {
 public:
  // `post` brings a function to the session's thread.
  CpuRunner(exec::Bounds bounds, std::function<void(std::function<void()>)> post);
  ~CpuRunner() override;

  void run(TaskRun task, std::function<void(Result<exec::Output>)> done) override;
  void cancel() override { cancelled_ = true; }

 private:
  struct Request {
    TaskRun task;
    std::function<void(Result<exec::Output>)> done;
  };
  void work();
  Result<exec::Output> run_in_pieces(const TaskRun& task);

  std::unique_ptr<exec::Executor> executor_;
  const std::function<void(std::function<void()>)> post_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Request> request_;
  bool stopping_ = false;
  std::atomic<bool> cancelled_ = false;
  std::jthread thread_;  // Last: starts when everything above is there.
};

}  // namespace weft::worker
