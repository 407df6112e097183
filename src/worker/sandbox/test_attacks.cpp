#include "worker/sandbox/test_attacks.h"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <functional>
#include <sched.h>
#include <string>
#include <unistd.h>

#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <sys/xattr.h>

namespace weft::worker::test {
namespace {

int error_of(long result) { return result < 0 ? errno : 0; }
int closed(int file) {
  const int error = error_of(file);
  if (file >= 0) ::close(file);
  return error;
}

int make_process() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  const int error = error_of(child);
  if (child > 0) ::waitpid(child, nullptr, 0);
  return error;
}

int trace(pid_t victim) {
  const int error = error_of(::ptrace(PTRACE_SEIZE, victim, nullptr, nullptr));
  if (error == 0) ::ptrace(PTRACE_DETACH, victim, nullptr, nullptr);
  return error;
}

int read_memory_of(pid_t victim, const void* place) {
  char byte = 0;
  const iovec here{.iov_base = &byte, .iov_len = 1};
  const iovec there{.iov_base = const_cast<void*>(place), .iov_len = 1};
  return error_of(::process_vm_readv(victim, &here, 1, &there, 1, 0));
}

// Directs signals to the victim: input of this pipe would signal it.
int aim_signals(pid_t victim) {
  int ends[2];
  if (::pipe(ends) != 0) return errno;
  const int error = error_of(::fcntl(ends[0], F_SETOWN, victim));
  ::close(ends[0]);
  ::close(ends[1]);
  return error;
}

// The call returns success without an effect, so the victim's CPU set is compared instead.
int move_threads_of(pid_t victim) {
  cpu_set_t before;
  cpu_set_t one;
  cpu_set_t after;
  if (::sched_getaffinity(victim, sizeof before, &before) != 0) return errno;
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu) {
    if (CPU_ISSET(cpu, &before)) CPU_SET(cpu, &one);
  }
  if (::sched_setaffinity(victim, sizeof one, &one) != 0) return errno;
  if (::sched_getaffinity(victim, sizeof after, &after) != 0) return errno;
  return CPU_EQUAL(&before, &after) ? EPERM : 0;
}

int shared_memory() {
  const int id = ::shmget(IPC_PRIVATE, 4096, 0600 | IPC_CREAT);
  const int error = error_of(id);
  if (id >= 0) ::shmctl(id, IPC_RMID, nullptr);
  return error;
}
int message_queue() {
  const int id = ::msgget(IPC_PRIVATE, 0600 | IPC_CREAT);
  const int error = error_of(id);
  if (id >= 0) ::msgctl(id, IPC_RMID, nullptr);
  return error;
}
int semaphore() {
  const int id = ::semget(IPC_PRIVATE, 1, 0600 | IPC_CREAT);
  const int error = error_of(id);
  if (id >= 0) ::semctl(id, 0, IPC_RMID);
  return error;
}

int lower_a_limit() {
  const rlimit limit{.rlim_cur = 512, .rlim_max = 512};
  return error_of(::setrlimit(RLIMIT_NOFILE, &limit));
}

}  // namespace

std::vector<Attempt> attack(const std::filesystem::path& folder, int victim) {
  const std::string own = folder / "own";  // This file was created before the confinement.
  const std::string other = folder / "other";
  const char* const file = own.c_str();
  // The victim was forked from this process, so it has the variable `place` at the same address.
  static const int place = 0;
  int ends[2] = {-1, -1};
  if (::pipe(ends) != 0) return {};
  std::vector<Attempt> attempts;
  const auto attempt = [&](const char* name, int error) {
    attempts.push_back({.name = name, .error = error});
  };
  // Attempts by signals, tracing and other access to another process.
  attempt("kill another process", error_of(::kill(victim, 0)));
  attempt("signal a thread of another process", error_of(::syscall(SYS_tgkill, victim, victim, 0)));
  attempt("signal a thread by its number alone", error_of(::syscall(SYS_tkill, victim, 0)));
  attempt("hold another process by a descriptor",
          closed(static_cast<int>(::syscall(SYS_pidfd_open, victim, 0))));
  attempt("trace another process", trace(victim));
  attempt("read another process's memory", read_memory_of(victim, &place));
  attempt("aim a pipe's signals at another process", aim_signals(victim));
  attempt("place another process's threads", move_threads_of(victim));
  attempt("change another process's priority",
          ::setpriority(PRIO_PROCESS, static_cast<id_t>(victim), 19) != 0 ? errno
          : ::getpriority(PRIO_PROCESS, static_cast<id_t>(victim)) == 19  ? 0
                                                                          : EPERM);
  // Attempts to start processes and programs.
  attempt("make a process", make_process());
  char* const nothing[] = {nullptr};
  attempt("run a program", error_of(::execve((other + "/none").c_str(), nothing, nothing)));
  // Attempts on the network and on objects that processes share.
  attempt("make an internet socket", closed(::socket(AF_INET, SOCK_STREAM, 0)));
  attempt("make a local socket", closed(::socket(AF_UNIX, SOCK_STREAM, 0)));
  attempt("make a netlink socket", closed(::socket(AF_NETLINK, SOCK_RAW, 0)));
  attempt("make shared memory", shared_memory());
  attempt("make a message queue", message_queue());
  attempt("make a semaphore", semaphore());
  // Attempts on metadata and ownership of a file of this user.
  attempt("change a file's mode", error_of(::chmod(file, 0600)));
  attempt("change a file's owner", error_of(::chown(file, ::geteuid(), ::getegid())));
  attempt("change a file's times", error_of(::utimensat(AT_FDCWD, file, nullptr, 0)));
  attempt("set an attribute of a file", error_of(::setxattr(file, "user.weft", "1", 1, 0)));
  // Attempts to create, remove and rename files.
  attempt("create a file", closed(::open(other.c_str(), O_WRONLY | O_CREAT, 0600)));
  attempt("create a file without a name",
          closed(::open(folder.c_str(), O_WRONLY | O_TMPFILE, 0600)));
  attempt("make a folder", error_of(::mkdir((other + "-folder").c_str(), 0700)));
  attempt("make a symbolic link", error_of(::symlink(file, (other + "-symbolic").c_str())));
  attempt("make a link", error_of(::link(file, (other + "-link").c_str())));
  attempt("make a pipe with a name", error_of(::mkfifo((other + "-pipe").c_str(), 0600)));
  attempt("truncate a file", error_of(::truncate(file, 0)));
  attempt("lock a file", error_of(::syscall(SYS_flock, ends[0], 1)));
  attempt("rename a file", error_of(::rename(file, (own + "-renamed").c_str())));
  attempt("remove a file", error_of(::unlink((own + "-renamed").c_str())));
  // Attempts on mounts and namespaces, with paths that do not exist, so that the kernel's own
  // checks refuse them.
  attempt("mount", error_of(::mount("none", (other + "/none").c_str(), "tmpfs", 0, nullptr)));
  attempt("unmount", error_of(::umount2((other + "/none").c_str(), 0)));
  attempt("leave for another root", error_of(::chroot((other + "/none").c_str())));
  attempt("make a namespace", error_of(::unshare(CLONE_NEWUTS)));
  // Attempts on the kernel itself.
  attempt("load a program into the kernel", error_of(::syscall(SYS_bpf, -1, nullptr, 0)));
  attempt("queue calls past the filter", error_of(::syscall(SYS_io_uring_setup, 0, nullptr)));
  attempt("watch page faults", closed(static_cast<int>(::syscall(SYS_userfaultfd, 1))));
  attempt("read the keyring", error_of(::syscall(SYS_keyctl, 0, -1, 0)));
  attempt("read another process's file table",
          error_of(::syscall(SYS_kcmp, victim, victim, 2, 0, 0)));
  attempt("become root", error_of(::setresuid(0, 0, 0)));
  attempt("set the clock", error_of(::syscall(SYS_clock_settime, -1, nullptr)));
  // Attempts with calls that are forbidden only by their arguments.
  attempt("type into a terminal", error_of(::ioctl(ends[0], TIOCSTI, "x")));
  attempt("aim a descriptor's signals",
          error_of(::ioctl(ends[0], 0x8901 /* FIOSETOWN */, &victim)));
  attempt("let another process trace this one", error_of(::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)));
  attempt("change a limit", lower_a_limit());
  return attempts;
}

}  // namespace weft::worker::test
