// A seccomp filter that libseccomp makes: an allow-list of system calls. Other calls fail with
// EPERM and do nothing. Internal to the confinement.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "common/base/result.h"

namespace weft::worker {

// Applies the filter to all present and future threads; no_new_privs must be set. Allowed are:
// signals to this process only; new threads, but no new processes; memory, time, waiting, and
// reading or writing open descriptors; opening files, but not creating, renaming or removing them
// or changing their mode, owner, times or attributes; and the device controls (ioctl) of GPU
// drivers. Sockets and System V objects are not allowed.
//
// `report_refused`: a refused call also writes its name to standard error, which shows the calls
// that a new driver needs.
enum class Refused : std::uint8_t { quietly, reported };
// `receives_files`: the parent may also send open files over the one socket (recvmsg).
[[nodiscard]] Result<> apply_seccomp(Refused refused = Refused::quietly,
                                     bool receives_files = false);

// The calls that are allowed with any arguments. For tests.
[[nodiscard]] std::span<const std::string_view> allowed_calls();

}  // namespace weft::worker
