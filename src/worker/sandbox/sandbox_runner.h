// Runs a session's tasks in sandboxed children, on a thread of its own. Each client
// (TaskRun::client) has a child of its own, so that what its shaders leave in a process or break
// there is met by no other client; one child stands by, so that a client's first task and a child
// that was ended cost no start-up time. Bounds: children_max in all; the child that was used least
// recently is ended.
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
    std::size_t children_max = 4;  // At least two.
    bool child_per_client = true;  // Off only in tests: one child for all.
  };
  // `post` brings a function to the session's thread.
  SandboxRunner(Sandbox::Options options, std::function<void(std::function<void()>)> post)
      : SandboxRunner(std::move(options), std::move(post), Bounds()) {}
  SandboxRunner(Sandbox::Options options, std::function<void(std::function<void()>)> post,
                const Bounds& bounds);
  ~SandboxRunner() override;

  // Waits for the first child and what its device is. Logs what of the confinement is missing,
  // once.
  [[nodiscard]] Result<protocol::Capabilities> describe();

  void run(TaskRun task, std::function<void(Result<exec::Output>)> done) override;
  void cancel() override;

  // The processes of clients, the one that was used last at the end, and the one that stands by.
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
    bool cancelled = false;  // The request above, or the one being run.
    bool stopping = false;
    std::shared_ptr<Sandbox> current;  // For cancel().
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
  // The thread's own.
  std::deque<Child> children_;  // Used last at the end.
  std::unique_ptr<Sandbox> spare_;
  std::jthread thread_;  // Last: starts when everything above is there.
};

}  // namespace weft::worker
