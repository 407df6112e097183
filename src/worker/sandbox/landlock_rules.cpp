#include "worker/sandbox/landlock_rules.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

#include <linux/landlock.h>
#include <sys/stat.h>
#include <sys/syscall.h>

namespace weft::worker {
namespace {

// Definitions from the kernel's include/uapi/linux/landlock.h, because the system's headers may be
// older than its kernel.
struct RulesetAttributes {
  std::uint64_t handled_access_fs = 0;   // Landlock has this field since version 1.
  std::uint64_t handled_access_net = 0;  // Landlock has this field since version 4.
  std::uint64_t scoped = 0;              // Landlock has this field since version 6.
};
constexpr std::uint64_t refer = 1U << 13;
constexpr std::uint64_t truncate = 1U << 14;
constexpr std::uint64_t bind_and_connect_tcp = 3;
constexpr std::uint64_t scope_abstract_sockets_and_signals = 3;

// The file rights to restrict, by the version of the interface. Newer kernels know more rights, and
// a right that is not listed here is not restricted.
std::uint64_t file_rights(long abi) {
  // All rights of version 1 are bits 0 to 12.
  std::uint64_t rights = LANDLOCK_ACCESS_FS_MAKE_SYM * 2 - 1;
  if (abi >= 2) rights |= refer;
  if (abi >= 3) rights |= truncate;
  // IOCTL_DEV of version 5 is not restricted, because drivers use it on their devices all the time,
  // and the devices are listed in any case.
  return rights;
}

Result<> add_rule(int ruleset, const std::filesystem::path& path, std::uint64_t rights) {
  const int file = ::open(path.c_str(), O_PATH | O_CLOEXEC);
  if (file < 0) return {};  // A path that does not exist needs no rule.
  struct stat status{};
  constexpr std::uint64_t for_files =
      LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_READ_FILE;
  if (::fstat(file, &status) == 0 && !S_ISDIR(status.st_mode)) rights &= for_files;
  const landlock_path_beneath_attr rule{.allowed_access = rights, .parent_fd = file};
  const long added =
      ::syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
  const int error = errno;
  ::close(file);
  if (added != 0)
    return fail(ErrorCode::internal, "Landlock does not accept a rule for {}: {}.", path.string(),
                std::strerror(error));
  return {};
}

}  // namespace

Result<> apply_landlock(const LandlockRules& rules) {
  const long abi =
      ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (abi < 1)
    return fail(ErrorCode::unsupported, "this kernel offers no Landlock ({})",
                std::strerror(errno));
  RulesetAttributes attributes{.handled_access_fs = file_rights(abi)};
  if (abi >= 4) attributes.handled_access_net = bind_and_connect_tcp;
  if (abi >= 6) attributes.scoped = scope_abstract_sockets_and_signals;
  // Older kernels accept only a shorter struct.
  const std::size_t size = abi >= 6   ? sizeof attributes
                           : abi >= 4 ? offsetof(RulesetAttributes, scoped)
                                      : offsetof(RulesetAttributes, handled_access_net);
  const auto ruleset =
      static_cast<int>(::syscall(SYS_landlock_create_ruleset, &attributes, size, 0));
  if (ruleset < 0)
    return fail(ErrorCode::unsupported, "Landlock refuses its rules ({})", std::strerror(errno));
  constexpr std::uint64_t read = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
  Result<> status;
  for (const auto& path : rules.readable) {
    if (status) status = add_rule(ruleset, path, read);
  }
  for (const auto& path : rules.listable) {
    if (status) status = add_rule(ruleset, path, LANDLOCK_ACCESS_FS_READ_DIR);
  }
  for (const auto& path : rules.writable) {
    if (status) status = add_rule(ruleset, path, read | LANDLOCK_ACCESS_FS_WRITE_FILE);
  }
  if (status && ::syscall(SYS_landlock_restrict_self, ruleset, 0) != 0)
    status = fail(ErrorCode::unsupported, "Landlock is refused ({})", std::strerror(errno));
  ::close(ruleset);
  return status;
}

}  // namespace weft::worker
