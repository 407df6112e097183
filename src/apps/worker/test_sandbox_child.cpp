// The sandbox's child for the tests. "probe" in the place of the socket makes it try, once confined, what it must not be
// able to do, and print what came of it.
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <string_view>
#include <thread>
#include <unistd.h>

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "apps/worker/confinement.h"
#include "apps/worker/sandbox_child.h"

namespace {

// The address sanitizer maps terabytes of shadow, which count as data.
#ifdef __SANITIZE_ADDRESS__
constexpr bool memory_is_bounded = false;
#else
constexpr bool memory_is_bounded = true;
#endif

void report(const char* what, bool possible) { std::printf("%s: %s\n", what, possible ? "possible" : std::strerror(errno)); }

bool can_open(const char* path, int flags) {
  const int file = ::open(path, flags, 0600);
  if (file >= 0) ::close(file);
  return file >= 0;
}

[[noreturn]] void probe(const char* secret) {
  for (const auto& note : weft::worker::confine({.data_bytes_max = memory_is_bounded ? 256 << 20 : 0})) std::printf("missing: %s\n", note.c_str());
  report("read a file", can_open(secret, O_RDONLY));
  report("read /etc/passwd", can_open("/etc/passwd", O_RDONLY));
  report("make a file", can_open("/tmp/weft-sandbox-probe", O_WRONLY | O_CREAT));
  report("write a library", can_open("/usr/lib/weft-sandbox-probe", O_WRONLY | O_CREAT));
  report("look at another process", can_open("/proc/1/environ", O_RDONLY));
  report("read /proc/self/status", can_open("/proc/self/status", O_RDONLY));
  report("open /dev/null", can_open("/dev/null", O_RDWR));
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  report("make a socket", socket >= 0);
  const int local = ::socket(AF_UNIX, SOCK_STREAM, 0);
  report("make a local socket", local >= 0);
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  report("fork", child > 0);
  report("run a program", ::execl("/bin/true", "true", nullptr) == 0);
  report("signal the parent", ::kill(::getppid(), 0) == 0);
  int in_thread = 0;
  std::thread([&] { in_thread = 1; }).join();
  std::printf("start a thread: %s\n", in_thread == 1 ? "possible" : "no");
  report("become root", ::setuid(0) == 0 && ::geteuid() == 0 && can_open("/etc/shadow", O_RDONLY));
  if (memory_is_bounded) report("take more memory", ::malloc(std::size_t{512} << 20) != nullptr);
  std::fflush(stdout);
  ::_exit(0);
}

}  // namespace

int main(int count, char** arguments) {
  if (count > 2 && std::string_view(arguments[1]) == "probe") {
    probe(arguments[2]);
  }
  return weft::worker::sandbox_child_main({arguments + 1, static_cast<std::size_t>(count - 1)});
}
