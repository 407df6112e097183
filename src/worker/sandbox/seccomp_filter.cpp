#include "worker/sandbox/seccomp_filter.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <sched.h>
#include <seccomp.h>
#include <string>
#include <ucontext.h>
#include <unistd.h>

#include <sys/ioctl.h>
#include <sys/prctl.h>

namespace weft::worker {
namespace {

#if !defined(__x86_64__) && !defined(__aarch64__)
#error "The sandbox's seccomp filter knows x86-64 and arm64."
#endif

// System calls that are allowed with any arguments. Names that this machine's kernel does not have
// are skipped. The list was tried with lavapipe; calls that only NVIDIA's driver makes, or is
// expected to make, are marked.
constexpr auto allowed = std::to_array<std::string_view>({
    // System calls for memory.
    "brk",
    "madvise",
    "membarrier",
    "memfd_create",
    "mincore",
    "mlock",
    "mlock2",
    "mmap",
    "mprotect",
    "mremap",
    "msync",
    "munlock",
    "munmap",
    "get_mempolicy",  // NVIDIA on NUMA machines: policies of this process.
    "mbind",
    "set_mempolicy",
    // Calls for threads of this process and their waits.
    "arch_prctl",
    "exit",
    "exit_group",
    "futex",
    "futex_wait",
    "futex_waitv",
    "futex_wake",
    "get_robust_list",
    "gettid",
    "restart_syscall",
    "rseq",
    "sched_yield",
    "set_robust_list",
    "set_tid_address",
    // Calls for signal handlers and masks of this process; rules for sending signals follow below.
    "rt_sigaction",
    "rt_sigpending",
    "rt_sigprocmask",
    "rt_sigreturn",
    "rt_sigsuspend",
    "rt_sigtimedwait",
    "sigaltstack",
    // System calls for time.
    "clock_getres",
    "clock_gettime",
    "clock_nanosleep",
    "gettimeofday",
    "nanosleep",
    "time",
    "timer_create",
    "timer_delete",
    "timer_getoverrun",
    "timer_gettime",
    "timer_settime",
    "timerfd_create",
    "timerfd_gettime",
    "timerfd_settime",
    "times",
    // System calls on open descriptors.
    "close",
    "close_range",
    "dup",
    "dup2",
    "dup3",
    "epoll_create",
    "epoll_create1",
    "epoll_ctl",
    "epoll_pwait",
    "epoll_pwait2",
    "epoll_wait",
    "eventfd",
    "eventfd2",
    "fadvise64",
    "fallocate",  // Only memory files can be open for writing.
    "ftruncate",
    "lseek",
    "pipe",
    "pipe2",
    "poll",
    "ppoll",
    "pread64",
    "preadv",
    "preadv2",
    "pselect6",
    "pwrite64",
    "pwritev",
    "pwritev2",
    "read",
    "readahead",
    "readv",
    "recvfrom",  // Receives from the parent: no other socket exists.
    "select",
    "write",
    "writev",
    // Calls that look up files. Rules for opening follow below; Landlock restricts the paths.
    "access",
    "faccessat",
    "faccessat2",
    "fstat",
    "fstatfs",
    "getcwd",
    "getdents",
    "getdents64",
    "lstat",
    "newfstatat",
    "readlink",
    "readlinkat",
    "stat",
    "statfs",
    "statx",
    // Calls for this process's identity and folder, and for data about the machine.
    "capget",
    "getcpu",
    "getegid",
    "geteuid",
    "getgid",
    "getgroups",
    "getpgrp",
    "getpid",
    "getppid",
    "getpriority",
    "getrandom",
    "getresgid",
    "getresuid",
    "getrlimit",
    "getrusage",
    "getuid",
    "sched_get_priority_max",
    "sched_get_priority_min",
    "sched_getaffinity",
    "sched_getattr",
    "sched_getparam",
    "sched_getscheduler",
    "sysinfo",
    "umask",
    "uname",
});

// System calls that could affect the sandboxes of other tasks, which have the same user. Drivers
// use these calls to place their threads and do not need the effect, so the calls return success
// without doing anything.
constexpr auto ignored =
    std::to_array<std::string_view>({"ioprio_set", "sched_setaffinity", "sched_setattr",
                                     "sched_setparam", "sched_setscheduler", "setpriority"});

// Calls that are reported as unknown, so that the C library uses older calls. Pointers lead to
// their arguments, and a filter cannot follow pointers.
constexpr auto unknown = std::to_array<std::string_view>({"clone3", "openat2"});

// Allowed families of device controls: the second byte of an ioctl's number.
constexpr auto ioctl_families = std::to_array<std::uint32_t>({
    0x00,  // NVIDIA's unified memory, whose numbers start at 0.
    0x3e,  // Fences of several drivers (linux/sync_file.h).
    'F',   // NVIDIA's driver (and frame buffers, which are not opened).
    'G',   // The GPU of WSL (dxg).
    'K',   // AMD's driver for compute (kfd).
    'b',   // Shared buffers (linux/dma-buf.h).
    'd',   // Render nodes of all other drivers (drm).
    'm',   // NVIDIA's driver for screens (modeset).
    'u',   // Buffers of memory files (linux/udmabuf.h).
});
// Allowed ioctls on files of every kind. Not included are FIOSETOWN and SIOCSPGRP, which direct
// signals to other processes, and TIOCSTI, which types into a terminal.
constexpr auto ioctls =
    std::to_array<std::uint32_t>({FIOCLEX, FIONCLEX, FIONBIO, FIONREAD, TCGETS});

// Allowed fcntl commands. Not included are F_SETOWN and F_SETSIG, which direct signals to other
// processes, and file locks.
constexpr auto fcntls = std::to_array<int>({F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL,
                                            F_SETFL, F_ADD_SEALS, F_GET_SEALS, F_GETPIPE_SZ});

constexpr int name_memory = 0x53564d41;  // The value of PR_SET_VMA, which older headers lack.
constexpr auto prctls = std::to_array<int>({PR_SET_NAME, PR_GET_NAME, PR_GET_DUMPABLE,
                                            PR_CAPBSET_READ, PR_GET_NO_NEW_PRIVS, PR_GET_SECCOMP,
                                            PR_SET_TIMERSLACK, PR_GET_TIMERSLACK, name_memory});

// Builds a list of rules and remembers the first one that libseccomp rejects.
class Filter {
 public:
  explicit Filter(std::uint32_t otherwise) : context_(::seccomp_init(otherwise)) {
    if (context_ == nullptr) error_ = ENOMEM;
  }
  Filter(const Filter&) = delete;
  ~Filter() {
    if (context_ != nullptr) ::seccomp_release(context_);
  }

  void set(scmp_filter_attr attribute, std::uint32_t value) {
    if (error_ == 0) error_ = -::seccomp_attr_set(context_, attribute, value);
  }

  // Adds a rule: the call gets `action` if all conditions hold.
  template <class... Conditions>
  void rule(std::string_view call, std::uint32_t action, Conditions... conditions) {
    if (error_ != 0) return;
    const int number = ::seccomp_syscall_resolve_name(std::string(call).c_str());
    if (number < 0) return;  // The machine or its kernel does not have this call.
    const std::array<scmp_arg_cmp, sizeof...(conditions)> list{conditions...};
    error_ = -::seccomp_rule_add_array(context_, action, number, list.size(), list.data());
  }

  Result<> load() {
    if (error_ == 0) error_ = -::seccomp_load(context_);
    if (error_ == 0) return {};
    return fail(ErrorCode::unsupported, "the kernel refuses a seccomp filter ({})",
                std::strerror(error_));
  }

 private:
  scmp_filter_ctx context_;
  int error_ = 0;
};

scmp_arg_cmp equals(unsigned argument, std::uint64_t value) {
  return {.arg = argument, .op = SCMP_CMP_EQ, .datum_a = value, .datum_b = 0};
}
// Compares the lower 32 bits, because the kernel reads an int and ignores the upper half of the
// register.
scmp_arg_cmp masked(unsigned argument, std::uint32_t mask, std::uint32_t value) {
  return {.arg = argument, .op = SCMP_CMP_MASKED_EQ, .datum_a = mask, .datum_b = value};
}
scmp_arg_cmp is(unsigned argument, int value) {
  return masked(argument, ~0U, static_cast<std::uint32_t>(value));
}

void allow_by_arguments(Filter& filter) {
  const pid_t own = ::getpid();
  // abort() and assertions send signals to this process.
  filter.rule("tgkill", SCMP_ACT_ALLOW, is(0, own));
  filter.rule("kill", SCMP_ACT_ALLOW, is(0, own));
  // Allows making threads, but not processes.
  filter.rule("clone", SCMP_ACT_ALLOW, masked(0, CLONE_THREAD, CLONE_THREAD));
  // Allows reading the limits of this process.
  filter.rule("prlimit64", SCMP_ACT_ALLOW, is(0, 0), equals(2, 0));
  filter.rule("prlimit64", SCMP_ACT_ALLOW, is(0, own), equals(2, 0));
  // Allows sending to the parent over the one socket, without an address.
  filter.rule("sendto", SCMP_ACT_ALLOW, equals(4, 0));
  // O_TMPFILE includes O_DIRECTORY; only its own bit counts.
  constexpr std::uint32_t creating = O_CREAT | (O_TMPFILE & ~O_DIRECTORY);
  filter.rule("open", SCMP_ACT_ALLOW, masked(1, creating, 0));
  filter.rule("openat", SCMP_ACT_ALLOW, masked(2, creating, 0));
  for (const int command : fcntls) filter.rule("fcntl", SCMP_ACT_ALLOW, is(1, command));
  for (const int option : prctls) filter.rule("prctl", SCMP_ACT_ALLOW, is(0, option));
  for (const std::uint32_t family : ioctl_families)
    filter.rule("ioctl", SCMP_ACT_ALLOW, masked(1, 0xff00, family << 8));
  for (const std::uint32_t number : ioctls)
    filter.rule("ioctl", SCMP_ACT_ALLOW, masked(1, ~0U, number));
}

// Handles the trap of a refused call: prints its name and lets it fail with EPERM.
void report_refused(int /*signal*/, siginfo_t* info, void* state) {
  const int error = errno;
  std::array<char, 96> line{};
  std::size_t size = 0;
  const auto add = [&](std::string_view text) {
    for (const char c : text.substr(0, line.size() - size)) line[size++] = c;
  };
  // Allocates memory, which signal handlers must not do; accepted because reporting is only used to
  // examine a driver.
  char* const name = ::seccomp_syscall_resolve_num_arch(::seccomp_arch_native(), info->si_syscall);
  add("refused: ");
  add(name != nullptr ? std::string_view(name) : std::string_view("a call without a name"));
  add("\n");
  std::free(name);
  static_cast<void>(::write(STDERR_FILENO, line.data(), size));
  auto& machine = static_cast<ucontext_t*>(state)->uc_mcontext;
#if defined(__x86_64__)
  machine.gregs[REG_RAX] = -EPERM;
#else
  machine.regs[0] = static_cast<unsigned long long>(-EPERM);
#endif
  errno = error;
}

Result<> report_refusals() {
  struct sigaction action{};
  action.sa_sigaction = report_refused;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  if (::sigaction(SIGSYS, &action, nullptr) != 0)
    return fail(ErrorCode::internal, "refused calls cannot be reported ({})", std::strerror(errno));
  return {};
}

}  // namespace

std::span<const std::string_view> allowed_calls() { return allowed; }

Result<> apply_seccomp(Refused refused, bool receives_files) {
  if (refused == Refused::reported) WEFT_OK(report_refusals());
  Filter filter(refused == Refused::reported ? SCMP_ACT_TRAP : SCMP_ACT_ERRNO(EPERM));
  // Calls with another numbering (32 bits, x32) would bypass the list.
  filter.set(SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
  filter.set(SCMP_FLTATR_CTL_TSYNC, 1);
  filter.set(SCMP_FLTATR_CTL_OPTIMIZE, 2);  // A binary tree, because every call passes the filter.
  for (const std::string_view call : allowed) filter.rule(call, SCMP_ACT_ALLOW);
  if (receives_files) filter.rule("recvmsg", SCMP_ACT_ALLOW);
  for (const std::string_view call : ignored) filter.rule(call, SCMP_ACT_ERRNO(0));
  for (const std::string_view call : unknown) filter.rule(call, SCMP_ACT_ERRNO(ENOSYS));
  allow_by_arguments(filter);
  return filter.load();
}

}  // namespace weft::worker
