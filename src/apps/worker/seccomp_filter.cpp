#include "apps/worker/seccomp_filter.h"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <sched.h>
#include <unistd.h>
#include <vector>

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>

namespace weft::worker {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t architecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t architecture = AUDIT_ARCH_AARCH64;
#else
#error "The sandbox's seccomp filter knows x86-64 and arm64."
#endif
constexpr std::uint32_t x32_bit = 0x40000000;  // x86-64's other numbering, which would pass the list by.

constexpr std::array denied = {SYS_socket,
                               SYS_socketpair,
                               SYS_connect,
                               SYS_bind,
                               SYS_listen,
                               SYS_accept,
                               SYS_accept4,
                               SYS_execve,
                               SYS_execveat,
#ifdef SYS_fork
                               SYS_fork,
                               SYS_vfork,
#endif
                               SYS_kill,
                               SYS_tkill,
                               SYS_rt_sigqueueinfo,
                               SYS_rt_tgsigqueueinfo,
                               SYS_pidfd_send_signal,
                               SYS_pidfd_open,
                               SYS_pidfd_getfd,
                               SYS_ptrace,
                               SYS_process_vm_readv,
                               SYS_process_vm_writev,
                               SYS_process_madvise,
                               SYS_kcmp,
                               SYS_mount,
                               SYS_umount2,
                               SYS_pivot_root,
                               SYS_chroot,
                               SYS_setns,
                               SYS_unshare,
                               SYS_fsopen,
                               SYS_fsmount,
                               SYS_fsconfig,
                               SYS_fspick,
                               SYS_move_mount,
                               SYS_open_tree,
                               SYS_mount_setattr,
                               SYS_name_to_handle_at,
                               SYS_open_by_handle_at,
                               SYS_keyctl,
                               SYS_add_key,
                               SYS_request_key,
                               SYS_bpf,
                               SYS_perf_event_open,
                               SYS_userfaultfd,
                               SYS_io_uring_setup,
                               SYS_io_uring_enter,
                               SYS_io_uring_register,
                               SYS_init_module,
                               SYS_finit_module,
                               SYS_delete_module,
                               SYS_kexec_load,
                               SYS_kexec_file_load,
                               SYS_reboot,
                               SYS_swapon,
                               SYS_swapoff,
                               SYS_acct,
                               SYS_quotactl,
                               SYS_settimeofday,
                               SYS_clock_settime,
                               SYS_clock_adjtime,
                               SYS_adjtimex,
                               SYS_sethostname,
                               SYS_setdomainname,
                               SYS_syslog,
                               SYS_vhangup,
                               SYS_setuid,
                               SYS_setgid,
                               SYS_setreuid,
                               SYS_setregid,
                               SYS_setresuid,
                               SYS_setresgid,
                               SYS_setgroups,
                               SYS_setfsuid,
                               SYS_setfsgid,
                               SYS_capset,
                               SYS_personality,
                               SYS_fanotify_init,
                               SYS_lookup_dcookie,
                               SYS_migrate_pages,
                               SYS_move_pages};

sock_filter load(std::size_t offset) { return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset)); }
sock_filter jump_if_equal(std::uint32_t value, std::uint8_t yes, std::uint8_t no) { return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, yes, no); }
sock_filter answer(std::uint32_t action) { return BPF_STMT(BPF_RET | BPF_K, action); }

std::vector<sock_filter> program() {
  const std::uint32_t refuse = SECCOMP_RET_ERRNO | EPERM;
  std::vector<sock_filter> code = {
      load(offsetof(seccomp_data, arch)),
      jump_if_equal(architecture, 1, 0),
      answer(SECCOMP_RET_KILL_PROCESS),
      load(offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, x32_bit, 0, 1),
      answer(refuse),
      // clone3 hides its flags behind a pointer: "not known here", upon which the C library takes clone.
      jump_if_equal(SYS_clone3, 0, 1),
      answer(SECCOMP_RET_ERRNO | ENOSYS),
      // clone for threads only. The flags are the first argument; its lower half comes first on these machines.
      jump_if_equal(SYS_clone, 0, 4),
      load(offsetof(seccomp_data, args)),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 0),
      answer(refuse),
      answer(SECCOMP_RET_ALLOW),
  };
  for (const long number : denied) {
    code.push_back(jump_if_equal(static_cast<std::uint32_t>(number), 0, 1));
    code.push_back(answer(refuse));
  }
  code.push_back(answer(SECCOMP_RET_ALLOW));
  return code;
}

}  // namespace

Result<> apply_seccomp() {
  std::vector<sock_filter> code = program();
  sock_fprog filter{.len = static_cast<unsigned short>(code.size()), .filter = code.data()};
  if (::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter) != 0) {
    return fail(ErrorCode::unsupported, "the kernel refuses a seccomp filter ({})", std::strerror(errno));
  }
  return {};
}

}  // namespace weft::worker
