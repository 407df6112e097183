// The parent's side of one child process that runs strangers' shaders. The child runs the parent's
// program, handles one request at a time, and is ended if a request takes too long. After any error
// of the child itself (a crash, a missed deadline, an invalid answer) the child is ended and the
// Sandbox stays dead; start another one. An error of the job (a shader that does not compile)
// leaves the child alive.
//
// Threading: one owner, whose calls block. The owner's thread must outlive the child, because the
// kernel ends a child with the thread that started it. kill() and pid() may be called from any
// thread.
#pragma once

#include <deque>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "common/base/guarded.h"
#include "common/protocol/capabilities.h"
#include "worker/sandbox/sandbox_wire.h"
#include "worker/tasks/host.h"

namespace weft::worker {

class Sandbox {
 public:
  // What the child does for its parent.
  enum class Duty : std::uint8_t {
    shaders,                // Runs and compiles jobs, on a device.
    texts,                  // Reads a model's texts (text_service.h), without a device.
    detector,               // Runs a camera's model (detector_service.h), on a device.
    detector_on_processor,  // The same without a device.
  };
  struct Options {
    std::filesystem::path program = "/proc/self/exe";
    std::vector<std::string> arguments = {
        // The first arguments of the child program, which calls sandbox_child_main().
        "sandbox-child"};
    std::uint64_t memory_bytes = std::uint64_t{1} << 30;  // The device memory of one task.
    std::optional<std::size_t> adapter =
        {};  // Number of the GPU (gpu::Instance::adapters()); default: the best one.
    std::filesystem::path driver =
        {};  // JSON file of the only Vulkan driver to use; default: the machine's drivers.
    bool unsafe = false;  // Runs strangers' work even if required parts are missing.
    Duty duty = Duty::shaders;
    Duration start_max = std::chrono::seconds(60);
    Duration load_max = std::chrono::seconds(30);  // Maximum time of a load, including compiling.
  };

  // Starts the process without waiting for it.
  [[nodiscard]] static Result<std::unique_ptr<Sandbox>> start(const Options& options);
  Sandbox(const Sandbox&) = delete;
  ~Sandbox();

  // Waits for the child's device. Fails with unavailable if there is none, and with
  // permission_denied if a required part of the confinement is missing (confinement.h) and
  // Options::unsafe is not set. Returns a message for each other missing part.
  [[nodiscard]] Result<std::vector<std::string>> wait_ready();
  [[nodiscard]] Result<protocol::Capabilities> describe();
  [[nodiscard]] Result<exec::Output> run(const TaskRun& task);
  // Compiles a job and discards the result. The job's data are ignored.
  [[nodiscard]] Result<> check(const exec::Job& job);
  // Sends a request to a child with a duty other than shaders.
  [[nodiscard]] Result<ByteVector> ask_service(FrameKind kind, ByteSpan payload, Duration wall_max,
                                               std::uint64_t reply_bytes_max);

  // Ends the child. A running call fails with cancelled.
  void kill();
  [[nodiscard]] bool alive() const { return alive_; }
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  struct Process {
    bool killed_by_us = false;
    bool reaped = false;
  };
  Sandbox(const Options& options, pid_t pid, int socket, int errors);
  Result<ByteVector> ask(FrameKind kind, ByteSpan payload, Duration wall_max,
                         std::uint64_t reply_bytes_max);
  Result<std::uint64_t> load(const std::shared_ptr<const exec::Job>& job);
  // Ends the child. Returns the error to report: how the child ended if it ended by itself, else
  // `error`.
  Error bury(Error error);
  // Reaps the child (waitpid) if it has ended; with `wait`, waits for its end.
  enum class Reap : std::uint8_t { look, wait };
  bool reap(Reap how, int& status);
  void read_errors();
  [[nodiscard]] std::string last_words();

  const Options options_;
  const pid_t pid_;
  const int socket_;
  const int errors_;
  Guarded<Process> process_;
  bool alive_ = true;
  bool ready_ = false;
  std::vector<std::string> missing_;
  std::string said_;  // Last lines of the child's standard error.
  std::deque<std::pair<std::uint64_t, std::weak_ptr<const exec::Job>>>
      loaded_;  // The jobs that the child holds; their data here may be freed.
  std::uint64_t next_id_ = 1;
};

}  // namespace weft::worker
