// Runs a session's tasks in sandboxed children, on a thread of its own. Each client
// (TaskRun::client) has a child of its own, so that no client is affected by data or damage that
// another client's shaders leave in a process. A spare child is kept ready, so that a client's
// first task, or one after a crash, needs no start-up time. Bounds: children_max in all; the child
// that was used least recently is ended.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "worker/sandbox/sandbox.h"
#include "worker/tasks/host.h"

namespace weft::worker {

class SandboxRunner final : public TaskRunner {
 public:
  struct Bounds {
    std::size_t children_max = 4;  // Must be at least 2.
    bool child_per_client = true;  // False only in tests: one child for all clients.
  };
  // `post` runs a function on the session's thread.
  SandboxRunner(Sandbox::Options options, std::function<void(std::function<void()>)> post)
      : SandboxRunner(std::move(options), std::move(post), Bounds()) {}
  SandboxRunner(Sandbox::Options options, std::function<void(std::function<void()>)> post,
                const Bounds& bounds);
  ~SandboxRunner() override;

  // Waits for the first child and returns the capabilities of its device. Missing parts of the
  // confinement are logged once.
  [[nodiscard]] Result<protocol::Capabilities> describe();

  void run(TaskRun task, std::function<void(Result<exec::Output>)> done) override;
  void cancel() override;

  // The processes of clients, the most recently used one last, and the spare process.
  struct Processes {
    std::vector<pid_t> of_clients;
    std::optional<pid_t> spare;
  };
  [[nodiscard]] Processes processes();

 private:
  struct Request {
    TaskRun task;
    std::function<void(Result<exec::Output>)> done;
  };
  struct Shared {
    std::optional<Request> request;
    bool cancelled = false;  // Refers to the queued or running request.
    bool stopping = false;
    std::shared_ptr<Sandbox> current;  // The child that cancel() ends.
    Processes processes;
  };
  struct Child {
    std::string client;
    std::shared_ptr<Sandbox> sandbox;
  };
  void work();
  Result<std::shared_ptr<Sandbox>> take_sandbox(const std::string& client);
  Result<> start_spare();
  void note_processes();
  Result<exec::Output> run_one(const TaskRun& task);

  const Sandbox::Options options_;
  const std::function<void(std::function<void()>)> post_;
  const Bounds bounds_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Shared shared_;
  std::optional<Result<protocol::Capabilities>> described_;
  // The following members are used by thread_ only.
  std::deque<Child> children_;  // The most recently used one is last.
  std::unique_ptr<Sandbox> spare_;
  std::jthread thread_;  // The last member, so that the thread starts after all others exist.
};

}  // namespace weft::worker
