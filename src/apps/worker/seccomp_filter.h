// A seccomp filter: system calls that reach beyond this process fail with EPERM. Internal to the confinement.
#pragma once

#include "common/base/result.h"

namespace weft::worker {

// Needs no_new_privs. Applies to all threads there are and will be. Denied: sockets of every kind, new processes and programs,
// signals to others, tracing, mounts and namespaces, keys, kernel modules, BPF, io_uring (which passes filters by),
// changes of identity. clone() is left to threads.
[[nodiscard]] Result<> apply_seccomp();

}  // namespace weft::worker
