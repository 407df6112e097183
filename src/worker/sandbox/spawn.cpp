#include "worker/sandbox/spawn.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "common/base/format.h"
#include "worker/sandbox/sandbox_wire.h"

namespace weft::worker {
namespace {

// Returns the variables of the parent's environment that lead to a driver. Drivers' disk caches are
// turned off, because one client's compiled shaders would reach the next client's child.
std::vector<std::string> environment(const std::filesystem::path& driver) {
  std::vector<std::string> variables = {"MESA_SHADER_CACHE_DISABLE=true",
                                        "__GL_SHADER_DISK_CACHE=0", "HOME=/nonexistent",
                                        "LC_ALL=C.UTF-8"};
  for (const char* name :
       {"VK_DRIVER_FILES", "VK_ICD_FILENAMES", "VK_LOADER_DRIVERS_SELECT", "LD_LIBRARY_PATH",
        "LP_NUM_THREADS", "NVIDIA_VISIBLE_DEVICES", "ASAN_OPTIONS", "UBSAN_OPTIONS"}) {
    const std::string_view variable = name;
    if (!driver.empty() && (variable.starts_with("VK_") || variable == "LD_LIBRARY_PATH")) continue;
    if (const char* value = std::getenv(name)) variables.push_back(std::string(name) + "=" + value);
  }
  if (!driver.empty()) variables.push_back("VK_DRIVER_FILES=" + driver.string());
  return variables;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> list;
  for (std::string& text : texts) list.push_back(text.data());
  list.push_back(nullptr);
  return list;
}

}  // namespace

std::string describe_end(int status) {
  if (WIFSIGNALED(status))
    return weft::format("was ended by signal {} ({})", WTERMSIG(status),
                        ::strsignal(WTERMSIG(status)));
  return weft::format("ended by itself with code {}", WEXITSTATUS(status));
}

Result<SpawnedChild> spawn_child(const std::filesystem::path& program,
                                 const std::vector<std::string>& words,
                                 const std::filesystem::path& driver) {
  std::array<int, 2> sockets{};
  std::array<int, 2> errors{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()) != 0)
    return fail(ErrorCode::internal, "Cannot make a socket pair: {}.", std::strerror(errno));
  if (::pipe2(errors.data(), O_CLOEXEC) != 0) {
    const int error = errno;
    for (const int descriptor : sockets) ::close(descriptor);
    return fail(ErrorCode::internal, "Cannot make a pipe: {}.", std::strerror(error));
  }
  ::fcntl(errors[0], F_SETFL, O_NONBLOCK);

  std::vector<std::string> arguments = {"weft"};  // The name in the list of processes.
  arguments.insert(arguments.end(), words.begin(), words.end());
  std::vector<std::string> variables = environment(driver);

  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, errors[1], STDERR_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, errors[1], STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, sockets[1], child_socket);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t none;
  sigset_t all;
  ::sigemptyset(&none);
  ::sigfillset(&all);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setsigdefault(&attributes, &all);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  pid_t pid = 0;
  const int error = ::posix_spawn(&pid, program.c_str(), &actions, &attributes,
                                  pointers(arguments).data(), pointers(variables).data());
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  ::close(sockets[1]);
  ::close(errors[1]);
  if (error != 0) {
    ::close(sockets[0]);
    ::close(errors[0]);
    return fail(ErrorCode::internal, "Cannot start the sandbox {}: {}.", program.string(),
                std::strerror(error));
  }
  return SpawnedChild{.pid = pid, .socket = sockets[0], .errors = errors[0]};
}

bool enter_confined_child(pid_t parent, int socket, const ConfinementOptions& confinement,
                          std::vector<MissingPart>& missing) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) return false;  // If this is true, the parent ended before prctl().
  // Ctrl-C reaches the whole process group, and the parent handles it.
  std::signal(SIGINT, SIG_IGN);
  for (int descriptor = 3; descriptor < socket; ++descriptor) ::close(descriptor);
  ::close_range(static_cast<unsigned>(socket) + 1, ~0U, 0);
  missing = confine(confinement);
  return true;
}

ByteVector pack_missing(std::span<const MissingPart> missing) {
  Packer out;
  out.number(missing.size());
  for (const MissingPart& part : missing)
    out.number(part.need == MissingPart::Need::required ? 1 : 0).text(part.what);
  return out.take();
}

Result<std::vector<MissingPart>> unpack_missing(ByteSpan payload) {
  Unpacker in(payload);
  std::vector<MissingPart> missing;
  WEFT_ASSIGN(const std::uint64_t count, in.number());
  for (std::uint64_t i = 0; i < count; ++i) {
    WEFT_ASSIGN(const std::uint64_t required, in.number());
    WEFT_ASSIGN(std::string what, in.text());
    missing.push_back(
        {.need = required != 0 ? MissingPart::Need::required : MissingPart::Need::wanted,
         .what = std::move(what)});
  }
  return missing;
}

}  // namespace weft::worker
