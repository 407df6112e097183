// The sandbox's child for tests. One of these words may precede the child's arguments:
//   probe SECRET           confines itself, tries forbidden things, and prints the results
//   attack FOLDER MODE     confines itself, makes an attempt for each class of system calls, and
//                          prints the results; MODE is "confined", "filtered" (the system call
//                          filter alone) or "unfiltered"
//   device                 confines itself, measures the best GPU, and prints the name of each
//                          refused system call
//   unfiltered ...         runs the child without its system call filter
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
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "engine/gpu/native/instance.h"
#include "engine/gpu/report.h"
#include "engine/gpu/run.h"
#include "worker/sandbox/confinement.h"
#include "worker/sandbox/sandbox_child.h"
#include "worker/sandbox/test_attacks.h"

namespace {

// The address sanitizer maps terabytes of shadow memory, which count as data.
#ifdef __SANITIZE_ADDRESS__
constexpr bool memory_is_bounded = false;
#else
constexpr bool memory_is_bounded = true;
#endif

void report(const char* what, bool possible) {
  std::printf("%s: %s\n", what, possible ? "possible" : std::strerror(errno));
}

bool can_open(const char* path, int flags) {
  const int file = ::open(path, flags, 0600);
  if (file >= 0) ::close(file);
  return file >= 0;
}

[[noreturn]] void probe(const char* secret) {
  for (const auto& part :
       weft::worker::confine({.data_bytes_max = memory_is_bounded ? 256 << 20 : 0}))
    std::printf("missing: %s\n", part.what.c_str());
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

// Starts another process of the same user, which ends when this process ends.
pid_t start_victim(bool changes_identity) {
  const pid_t parent = ::getpid();
  const pid_t victim = ::fork();
  if (victim != 0) return victim;
  // The reader of the output waits until each copy of its descriptor is closed.
  ::close_range(0, ~0U, 0);
  if (changes_identity && ::geteuid() == 0) {
    if (::setresgid(65534, 65534, 65534) != 0 || ::setresuid(65534, 65534, 65534) != 0) ::_exit(1);
  }
  // Both settings are made after the change of identity, which resets them.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::prctl(PR_SET_DUMPABLE, 1);
  if (::getppid() != parent) ::_exit(0);  // If this is true, the parent ended before prctl().
  for (;;) ::pause();
}

[[noreturn]] void attack(const char* folder, std::string_view mode) {
  const std::string own = std::string(folder) + "/own";
  const int file = ::open(own.c_str(), O_WRONLY | O_CREAT, 0600);
  if (file >= 0) ::close(file);
  const bool all = mode == "confined";
  const pid_t victim = start_victim(all);
  static_cast<void>(weft::worker::confine({.leave_namespaces = all,
                                           .drop_identity = all,
                                           .restrict_files = all,
                                           .filter_system_calls = mode != "unfiltered"}));
  for (const auto& [name, error] : weft::worker::test::attack(folder, victim))
    std::printf("%s: %s\n", name, error == 0 ? "possible" : std::strerror(error));
  std::fflush(stdout);
  ::_exit(0);
}

// Uses everything that a shader needs of a driver: opens a device, compiles, runs and reads back.
[[noreturn]] void use_device() {
  std::setvbuf(stdout, nullptr, _IONBF, 0);
  ::dup2(STDOUT_FILENO, STDERR_FILENO);  // Names of refused calls go to standard error.
  for (const auto& part : weft::worker::confine({.report_refused = true}))
    std::printf("missing: %s\n", part.what.c_str());
  std::printf("expected to be refused: socket\n");
  static_cast<void>(::socket(AF_UNIX, SOCK_STREAM, 0));
  const auto instance = weft::gpu::native::create_instance();
  auto device = weft::gpu::run<weft::Result<std::unique_ptr<weft::gpu::Device>>>(
      *instance, instance->create_device({.label = "weft sandbox"}, std::nullopt));
  if (!device) {
    std::printf("no device: %s\n", device.error().message.c_str());
    ::_exit(1);
  }
  const auto report =
      weft::gpu::run<weft::Result<weft::gpu::Report>>(*instance, weft::gpu::measure(**device));
  if (!report) {
    std::printf("no measurement: %s\n", report.error().message.c_str());
    ::_exit(1);
  }
  std::printf("measured: %.1f GFLOP/s in f32\n", report->f32_operations_per_second * 1e-9);
  ::_exit(0);
}

}  // namespace

int main(int count, char** arguments) {
  const std::string_view word = count > 1 ? arguments[1] : "";
  if (word == "probe" && count > 2) probe(arguments[2]);
  if (word == "attack" && count > 3) attack(arguments[2], arguments[3]);
  if (word == "device") use_device();
  const bool filtered = word != "unfiltered";
  const int words = filtered ? 1 : 2;
  return weft::worker::sandbox_child_main(
      {arguments + words, static_cast<std::size_t>(count - words)},
      {.filter_system_calls = filtered});
}
