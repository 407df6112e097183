// A seccomp filter, made by libseccomp: an allow-list of system calls. What is not listed fails
// with EPERM and does nothing. Internal to the confinement.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "common/base/result.h"

namespace weft::worker {

// Signals can be sent to this process alone; threads can be made, processes cannot; memory, time,
// waiting and reading or writing what is open are allowed; files are opened but not created,
// renamed, removed, or changed in mode, owner, times or attributes; there are no sockets and no
// System V objects; device controls (ioctl) are those of GPU drivers.
//
// Needs no_new_privs. Applies to all threads there are and will be. `report_refused`: a refused
// call also writes its name to standard error, to learn what a new driver needs.
enum class Refused : std::uint8_t { quietly, reported };
//
// `receives_files`: the parent may also send it open files over the one socket (recvmsg).
[[nodiscard]] Result<> apply_seccomp(Refused refused = Refused::quietly,
                                     bool receives_files = false);

// The calls that are allowed whatever their arguments are. For the tests.
[[nodiscard]] std::span<const std::string_view> allowed_calls();

}  // namespace weft::worker
