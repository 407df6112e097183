// Runs a session's tasks in sandboxed children, on a thread of its own: one child works, another
// stands by, so that replacing a child that was ended costs no start-up time.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "worker/sandbox/sandbox.h"
#include "worker/tasks/host.h"

namespace weft::worker {

class SandboxRunner final : public TaskRunner {
 public:
  // `post` brings a function to the session's thread.
  SandboxRunner(Sandbox::Options options, std::function<void(std::function<void()>)> post);
  ~SandboxRunner() override;

  // Waits for the first child and what its device is. Logs what of the confinement is missing,
  // once.
  [[nodiscard]] Result<protocol::Capabilities> describe();

  void run(TaskRun task, std::function<void(Result<exec::Output>)> done) override;
  void cancel() override;

 private:
  struct Request {
    TaskRun task;
    std::function<void(Result<exec::Output>)> done;
  };
  struct Shared {
    std::optional<Request> request;
    bool cancelled = false;  // The request above, or the one being run.
    bool stopping = false;
    std::shared_ptr<Sandbox> current;  // For cancel().
  };
  void work();
  Result<std::shared_ptr<Sandbox>> take_sandbox();
  Result<exec::Output> run_one(const TaskRun& task);

  const Sandbox::Options options_;
  const std::function<void(std::function<void()>)> post_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Shared shared_;
  std::optional<Result<protocol::Capabilities>> described_;
  std::shared_ptr<Sandbox> current_;  // The thread's own.
  std::unique_ptr<Sandbox> spare_;
  std::jthread thread_;  // Last: starts when everything above is there.
};

}  // namespace weft::worker
