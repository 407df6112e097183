#include "apps/cli/child_process.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <signal.h>
#include <unistd.h>

#include <sys/prctl.h>
#include <sys/wait.h>

extern char** environ;

namespace weft::cli {
namespace {

constexpr std::size_t line_bytes_max = 64 << 10;

// Passes whole lines to `on_line` until the child closes the pipe. A line over the bound is split.
void read_lines(int descriptor, const std::function<void(std::string_view)>& on_line) {
  std::string pending;
  char buffer[4096];
  for (;;) {
    const ssize_t n = ::read(descriptor, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    pending.append(buffer, static_cast<std::size_t>(n));
    for (std::size_t end = pending.find('\n');
         end != std::string::npos || pending.size() > line_bytes_max; end = pending.find('\n')) {
      const std::size_t length = std::min(end, line_bytes_max);
      if (on_line) on_line(std::string_view(pending).substr(0, length));
      pending.erase(0, end == std::string::npos ? length : end + 1);
    }
  }
  if (on_line && !pending.empty()) on_line(pending);
  ::close(descriptor);
}

// Starts the program in the forked child. Only functions of signal-safety(7) are allowed, because
// locks that other threads held at the fork stay locked. An error is written to `trouble`.
[[noreturn]] void become(char* const* arguments, char* const* environment, int output, int trouble,
                         pid_t parent) {
  ::setpgid(0, 0);
  for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(127);  // The parent ended before prctl().
  const int nothing = ::open("/dev/null", O_RDONLY);
  if (nothing >= 0 && ::dup2(nothing, 0) == 0 && ::dup2(output, 1) == 1 && ::dup2(output, 2) == 2)
    ::execvpe(arguments[0], arguments, environment);
  const int error = errno;
  [[maybe_unused]] const ssize_t written = ::write(trouble, &error, sizeof error);
  ::_exit(127);
}

}  // namespace

Result<std::unique_ptr<ChildProcess>> ChildProcess::start(Options options) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return fail(ErrorCode::internal, "Cannot make a pipe: {}.", std::strerror(errno));

  int trouble[2];
  if (::pipe2(trouble, O_CLOEXEC) != 0) {
    ::close(ends[0]);
    ::close(ends[1]);
    return fail(ErrorCode::internal, "Cannot make a pipe: {}.", std::strerror(errno));
  }

  std::vector<char*> arguments;
  for (std::string& argument : options.arguments) arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  std::vector<char*> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) environment.push_back(*entry);
  for (std::string& entry : options.environment) environment.push_back(entry.data());
  environment.push_back(nullptr);

  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) become(arguments.data(), environment.data(), ends[1], trouble[1], parent);
  int error = pid < 0 ? errno : 0;
  ::close(ends[1]);
  ::close(trouble[1]);
  // The pipe closes by itself when the program starts (close-on-exec).
  while (pid > 0 && ::read(trouble[0], &error, sizeof error) < 0 && errno == EINTR) {
  }
  ::close(trouble[0]);
  if (error != 0) {
    ::close(ends[0]);
    if (pid > 0) ::waitpid(pid, nullptr, 0);
    return fail(ErrorCode::not_found, "Cannot start {}: {}.", options.arguments[0],
                std::strerror(error));
  }
  return std::unique_ptr<ChildProcess>(new ChildProcess(pid, ends[0], std::move(options.on_line)));
}

ChildProcess::ChildProcess(pid_t pid, int output, std::function<void(std::string_view)> on_line)
    : pid_(pid), reader_([output, on_line = std::move(on_line)] { read_lines(output, on_line); }) {}

ChildProcess::~ChildProcess() {
  signal(SIGKILL);
  stop(std::chrono::milliseconds(0));
}

void ChildProcess::signal(int number) const { ::kill(-pid_, number); }

bool ChildProcess::running() {
  if (!ended_ && ::waitpid(pid_, &status_, WNOHANG) == pid_) ended_ = true;
  return !ended_;
}

int ChildProcess::stop(std::chrono::milliseconds grace) {
  const auto deadline = std::chrono::steady_clock::now() + grace;
  if (running()) ::kill(pid_, SIGTERM);
  while (running() && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  signal(SIGKILL);  // Kills the rest of the group: grandchildren would keep the pipe open.
  if (!ended_) {
    ::waitpid(pid_, &status_, 0);
    ended_ = true;
  }
  return status_;
}

}  // namespace weft::cli
