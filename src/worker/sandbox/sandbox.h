// One child process for strangers' shaders, seen from its parent: started from this same program,
// asked one thing at a time, ended when it takes too long. After any error of its own (a crash, a
// deadline, nonsense) it is ended and dead permanently: start another. An error of the job (a
// shader that does not compile) leaves it alive.
//
// Threading: one owner, whose calls block; it must outlive the child (the kernel ends a child with
// the thread that started it). kill() and pid() may be called from anywhere.
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
  struct Options {
    std::filesystem::path program = "/proc/self/exe";
    std::vector<std::string> arguments = {
        "sandbox-child"};  // Before those that sandbox_child_main() reads.
    std::uint64_t memory_bytes = std::uint64_t{1} << 30;  // What one task may take on the device.
    std::optional<std::size_t> adapter =
        {};  // The GPU's number (gpu::Instance::adapters()); the best one without.
    std::filesystem::path driver =
        {};               // A Vulkan driver's JSON file, alone; the machine's without.
    bool unsafe = false;  // Runs strangers' work although required parts are missing.
    bool texts = false;   // Reads a model's texts (text_service.h) and opens no device.
    Duration start_max = std::chrono::seconds(60);
    Duration load_max = std::chrono::seconds(30);  // Compiling included.
  };

  // Starts the process and does not wait for it.
  [[nodiscard]] static Result<std::unique_ptr<Sandbox>> start(const Options& options);
  Sandbox(const Sandbox&) = delete;
  ~Sandbox();

  // Waits for the child's device: unavailable if it has none; permission_denied if a required part
  // of the confinement is missing (confinement.h) and Options::unsafe is not set. Returns what else
  // is missing, one sentence each.
  [[nodiscard]] Result<std::vector<std::string>> wait_ready();
  [[nodiscard]] Result<protocol::Capabilities> describe();
  [[nodiscard]] Result<exec::Output> run(const TaskRun& task);
  // Compiles and forgets. The job's data is not looked at.
  [[nodiscard]] Result<> check(const exec::Job& job);
  // Asks a child for texts: one of the kinds that text_service.h answers.
  [[nodiscard]] Result<ByteVector> ask_text(FrameKind kind, ByteSpan payload, Duration wall_max,
                                            std::uint64_t reply_bytes_max);

  // Ends the child; a call under way fails with cancelled.
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
  // Ends the child. Gives the error to report: how the child ended, if it did so by itself, else
  // `error`.
  Error bury(Error error);
  // Takes the ended child from the kernel's table, if it has ended; with `wait`, waits for that.
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
  std::string said_;  // The end of its standard error.
  std::deque<std::pair<std::uint64_t, std::weak_ptr<const exec::Job>>>
      loaded_;  // As the child keeps them; here their data may be gone.
  std::uint64_t next_id_ = 1;
};

}  // namespace weft::worker
