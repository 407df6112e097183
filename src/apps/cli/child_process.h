// A program started beside this one: its own process group, its output line by line, ended for
// certain. Used by the demo and the benchmarks, which start whole networks.
//
// Threading: one owner; lines are handed over on a thread of the process's own. Lifetime:
// destroying it kills the group. Where this program dies without that, the system sends SIGTERM to
// the process; it does so as well when the thread that started it ends.
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
        arguments;  // arguments[0] is the program: a path, or a name to look for on PATH.
    std::vector<std::string> environment;  // "NAME=value", besides this process's own.
    std::function<void(std::string_view line)>
        on_line;  // Standard output and error together; may be empty.
  };

  [[nodiscard]] static Result<std::unique_ptr<ChildProcess>> start(Options options);
  ChildProcess(const ChildProcess&) = delete;
  ~ChildProcess();

  // Sends a signal to the whole group.
  void signal(int number) const;
  // Asks it to end (SIGTERM), and makes it end (SIGKILL) after `grace`. Returns the exit status as
  // waitpid gives it.
  int stop(std::chrono::milliseconds grace);
  // False once it has ended.
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
