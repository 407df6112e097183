// Kills the process before its step number WEFT_KILL_AT. Steps are its writes to files, sockets and
// pipes, and its calls that make files durable, in their order; a wake-up of an event loop is not a
// step. settle-killed.test.mjs builds this library and preloads it, so that the program itself is
// unchanged.
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <dlfcn.h>
#include <unistd.h>

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>

namespace {

std::atomic<long> steps;

void step() {
  const char* at = std::getenv("WEFT_KILL_AT");
  if (at != nullptr && ++steps == std::atol(at)) ::kill(::getpid(), SIGKILL);
}
void step_on(int file) {
  struct stat found{};
  if (::fstat(file, &found) != 0) return;
  if (S_ISREG(found.st_mode) || S_ISSOCK(found.st_mode) || S_ISFIFO(found.st_mode)) step();
}
// The C library's own function of this name.
template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

ssize_t write(int file, const void* bytes, size_t size) {
  static auto* const real = next<decltype(write)>("write");
  step_on(file);
  return real(file, bytes, size);
}
ssize_t writev(int file, const iovec* parts, int count) {
  static auto* const real = next<decltype(writev)>("writev");
  step_on(file);
  return real(file, parts, count);
}
ssize_t send(int file, const void* bytes, size_t size, int flags) {
  static auto* const real = next<decltype(send)>("send");
  step_on(file);
  return real(file, bytes, size, flags);
}
ssize_t sendmsg(int file, const msghdr* message, int flags) {
  static auto* const real = next<decltype(sendmsg)>("sendmsg");
  step_on(file);
  return real(file, message, flags);
}
int fsync(int file) {
  static auto* const real = next<decltype(fsync)>("fsync");
  step();
  return real(file);
}
int fdatasync(int file) {
  static auto* const real = next<decltype(fdatasync)>("fdatasync");
  step();
  return real(file);
}
int ftruncate(int file, off_t size) noexcept {
  static auto* const real = next<int(int, off_t)>("ftruncate");
  step();
  return real(file, size);
}
int rename(const char* from, const char* to) noexcept {
  static auto* const real = next<int(const char*, const char*)>("rename");
  step();
  return real(from, to);
}
int unlink(const char* path) noexcept {
  static auto* const real = next<int(const char*)>("unlink");
  step();
  return real(path);
}
}
