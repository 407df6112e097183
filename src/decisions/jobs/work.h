// What of a job decides how long it takes: its program, data and dispatch. Jobs that share it are
// priced by each other's canaries (decisions/scheduler/measured_work.h).
#pragma once

#include "common/base/ids.h"
#include "common/manifest/manifest.h"

namespace weft::jobs {

// SHA-256 of the manifest without what changes no workgroup: name, budget, priority, deadline,
// checks, the number of tasks, and the data of a matrix product. Data are blobs or inline; the same
// data in either form are the same work. O(its text).
[[nodiscard]] Hash work_of(const manifest::Manifest& manifest);

// SHA-256 of the manifest as it is stored: all data as blobs. A quote is for that.
[[nodiscard]] Hash stored_hash(const manifest::Manifest& manifest);

}  // namespace weft::jobs
