#include "worker/sandbox/confinement.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <grp.h>
#include <sched.h>
#include <sstream>
#include <unistd.h>

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "worker/sandbox/landlock_rules.h"
#include "worker/sandbox/seccomp_filter.h"

namespace weft::worker {
namespace {

namespace fs = std::filesystem;
constexpr uid_t unprivileged = 65534;  // A user that owns no files.

using Need = MissingPart::Need;

class Notes {
 public:
  void add(std::string what, Need need = Need::wanted) {
    missing_.push_back({.need = need, .what = std::move(what)});
  }
  void add_errno(const char* what, Need need = Need::wanted) {
    add(std::string(what) + " (" + std::strerror(errno) + ")", need);
  }
  [[nodiscard]] std::vector<MissingPart> take() { return std::move(missing_); }

 private:
  std::vector<MissingPart> missing_;
};

void limit_resources(std::uint64_t data_bytes_max, Notes& notes) {
  const rlimit none{.rlim_cur = 0, .rlim_max = 0};
  if (::setrlimit(RLIMIT_CORE, &none) != 0) notes.add_errno("no bound on core files");
  if (data_bytes_max == 0) return;
  // RLIMIT_AS is not used, because drivers reserve large address ranges that they never fill.
  const rlimit data{.rlim_cur = data_bytes_max, .rlim_max = data_bytes_max};
  if (::setrlimit(RLIMIT_DATA, &data) != 0) notes.add_errno("no bound on memory");
}

// Enters an empty network and a System V IPC namespace without objects of other processes. If the
// process lacks the right to do so, it first enters a user namespace of its own, in which every
// process has this right.
void leave_namespaces(Notes& notes) {
  constexpr int own = CLONE_NEWNET | CLONE_NEWIPC;
  if (::unshare(own) == 0 || ::unshare(CLONE_NEWUSER | own) == 0) return;
  notes.add_errno("no network and IPC namespaces of its own; the system call filter refuses both");
}

// Returns the groups that own the render nodes, if the system has them.
std::vector<gid_t> device_groups() {
  std::vector<gid_t> groups;
  for (const char* name : {"render", "video"}) {
    if (const group* entry = ::getgrnam(name)) groups.push_back(entry->gr_gid);
  }
  return groups;
}

void drop_identity(const std::vector<gid_t>& groups, Notes& notes) {
  if (::geteuid() == 0) {
    if (::setgroups(groups.size(), groups.data()) != 0 ||
        ::setresgid(unprivileged, unprivileged, unprivileged) != 0 ||
        ::setresuid(unprivileged, unprivileged, unprivileged) != 0) {
      notes.add_errno("it keeps the identity of root", Need::required);
    }
  }
  // Drops all capabilities, because in a new user namespace a process has every one.
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  std::array<__user_cap_data_struct, 2> none{};
  if (::syscall(SYS_capset, &header, none.data()) != 0)
    notes.add_errno("it keeps its capabilities", Need::required);
}

void add_list(std::vector<fs::path>& paths, const char* variable, bool folders_of) {
  const char* list = std::getenv(variable);
  if (list == nullptr) return;
  std::istringstream in(list);
  for (std::string entry; std::getline(in, entry, ':');) {
    if (entry.empty() || entry.front() != '/') continue;
    paths.push_back(folders_of ? fs::path(entry).parent_path() : fs::path(entry));
  }
}

LandlockRules rules_for_drivers(const std::vector<fs::path>& more) {
  LandlockRules rules;
  // Libraries and the drivers' data; from /etc only files that the loaders of libraries and drivers
  // read.
  rules.readable = {"/usr", "/lib", "/lib64", "/lib32", "/opt/amdgpu", "/etc/ld.so.cache",
                    "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/ld.so.preload", "/etc/vulkan",
                    "/etc/glvnd", "/etc/drirc", "/etc/nvidia", "/etc/localtime",
                    "/etc/nsswitch.conf", "/run/opengl-driver", "/nix/store",
                    // Data about the machine (CPUs, memory, devices) and about this process. The
                    // rule for /proc/self covers no other process, because the path is opened in
                    // this process.
                    "/proc/self", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/devices",
                    "/proc/modules", "/proc/filesystems", "/proc/driver/nvidia",
                    "/proc/sys/kernel/osrelease", "/proc/sys/vm", "/sys/devices", "/sys/class/drm",
                    "/sys/bus/pci", "/sys/dev/char", "/sys/module", "/sys/kernel/mm"};
  rules.readable.insert(rules.readable.end(), more.begin(), more.end());
  for (const char* variable : {"VK_DRIVER_FILES", "VK_ICD_FILENAMES"})
    add_list(rules.readable, variable, true);
  add_list(rules.readable, "LD_LIBRARY_PATH", false);
  rules.listable = {"/dev/dri"};
  rules.writable = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom",
                    "/dev/kfd", "/dev/dxg", "/dev/dma_heap",
                    // Drivers set their threads' names in /proc/self/task.
                    "/dev/udmabuf", "/proc/self/task"};
  const auto add_devices = [&](const char* folder, std::string_view beginning) {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(folder, ignored)) {
      if (entry.path().filename().string().starts_with(beginning))
        rules.writable.push_back(entry.path());
    }
  };
  add_devices("/dev", "nvidia");
  // Only render nodes are added: card0 and similar devices control the screen.
  add_devices("/dev/dri", "renderD");
  return rules;
}

}  // namespace

std::vector<MissingPart> confine(const ConfinementOptions& options) {
  Notes notes;
  // The groups are read before Landlock is applied, because this reads /etc/group.
  const std::vector<gid_t> groups = device_groups();
  limit_resources(options.data_bytes_max, notes);
  if (options.leave_namespaces) leave_namespaces(notes);
  if (options.drop_identity) {
    drop_identity(groups, notes);
  } else {
    notes.add("it keeps its identity: that was asked for", Need::required);
  }
  // The death signal is set after the change of identity, which resets the signal.
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) notes.add_errno("it outlives its parent");
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    notes.add_errno("it may gain privileges", Need::required);
    return notes.take();  // Without no_new_privs the other parts cannot be applied.
  }
  const auto turned_off = fail(ErrorCode::unavailable, "that was asked for");
  const Result<> files = options.restrict_files
                             ? apply_landlock(rules_for_drivers(options.readable))
                             : Result<>(turned_off);
  if (!files) notes.add("it may open other files: " + files.error().message);
  const Result<> calls =
      options.filter_system_calls
          ? apply_seccomp(options.report_refused ? Refused::reported : Refused::quietly,
                          options.receives_files)
          : Result<>(turned_off);
  if (!calls) notes.add("it may make every system call: " + calls.error().message, Need::required);
  return notes.take();
}

}  // namespace weft::worker
