// A child process in its own process group, whose output arrives line by line and which ends when
// the ChildProcess is destroyed. The demo and the benchmarks start whole networks with it.
//
// Threading: one owner; lines are passed to the callback on a thread of the ChildProcess. Lifetime:
// the destructor kills the group. If this program ends without the destructor, or if the thread
// that started the child ends, the system sends SIGTERM to the child.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <sys/types.h>

#include "common/base/result.h"

namespace weft::cli {

class ChildProcess {
 public:
  struct Options {
    std::vector<std::string>
        arguments;  // arguments[0] is the program: a path, or a name to look up on PATH.
    std::vector<std::string> environment;  // "NAME=value", added to this process's own environment.
    std::function<void(std::string_view line)>
        on_line;  // Called with lines of standard output and standard error; may be empty.
  };

  [[nodiscard]] static Result<std::unique_ptr<ChildProcess>> start(Options options);
  ChildProcess(const ChildProcess&) = delete;
  ~ChildProcess();

  // Sends a signal to the whole process group.
  void signal(int number) const;
  // Sends SIGTERM to the group, and SIGKILL after `grace`. Returns the exit status in the form of
  // waitpid.
  int stop(std::chrono::milliseconds grace);
  // True until the process has ended.
  [[nodiscard]] bool running();
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  ChildProcess(pid_t pid, int output, std::function<void(std::string_view)> on_line);

  pid_t pid_;
  int status_ = 0;
  bool ended_ = false;
  std::jthread reader_;
};

}  // namespace weft::cli
