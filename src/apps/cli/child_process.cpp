#include "apps/cli/child_process.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

#include <sys/wait.h>

extern char** environ;

namespace weft::cli {
namespace {

constexpr std::size_t line_bytes_max = 64 << 10;

// Hands over whole lines until the other end closes. A line over the bound is cut there.
void read_lines(int descriptor, const std::function<void(std::string_view)>& on_line) {
  std::string pending;
  char buffer[4096];
  for (;;) {
    const ssize_t n = ::read(descriptor, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    pending.append(buffer, static_cast<std::size_t>(n));
    for (std::size_t end = pending.find('\n'); end != std::string::npos || pending.size() > line_bytes_max; end = pending.find('\n')) {
      const std::size_t length = std::min(end, line_bytes_max);
      if (on_line) on_line(std::string_view(pending).substr(0, length));
      pending.erase(0, end == std::string::npos ? length : end + 1);
    }
  }
  if (on_line && !pending.empty()) on_line(pending);
  ::close(descriptor);
}

}  // namespace

Result<std::unique_ptr<ChildProcess>> ChildProcess::start(Options options) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail(ErrorCode::internal, "Cannot make a pipe: {}.", std::strerror(errno));

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setpgroup(&attributes, 0);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  sigset_t usual;
  sigfillset(&usual);
  posix_spawnattr_setsigdefault(&attributes, &usual);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);

  std::vector<char*> arguments;
  for (std::string& argument : options.arguments) arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  std::vector<char*> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) environment.push_back(*entry);
  for (std::string& entry : options.environment) environment.push_back(entry.data());
  environment.push_back(nullptr);

  pid_t pid = 0;
  const int error = ::posix_spawnp(&pid, arguments[0], &actions, &attributes, arguments.data(), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  ::close(ends[1]);
  if (error != 0) {
    ::close(ends[0]);
    return fail(ErrorCode::not_found, "Cannot start {}: {}.", options.arguments[0], std::strerror(error));
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
  while (running() && std::chrono::steady_clock::now() < deadline) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  signal(SIGKILL);  // Whatever of the group is left: grandchildren hold the pipe open otherwise.
  if (!ended_) {
    ::waitpid(pid_, &status_, 0);
    ended_ = true;
  }
  return status_;
}

}  // namespace weft::cli
