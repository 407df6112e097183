// The parts of a job that decide how long it takes: its program, data and dispatch. Jobs with equal
// work are priced by each other's canaries (decisions/scheduler/measured_work.h).
#pragma once

#include "common/base/ids.h"
#include "common/manifest/manifest.h"

namespace weft::jobs {

// SHA-256 of the manifest without the fields that change no workgroup: name, budget, priority,
// deadline, checks, the number of tasks, and the data of a matrix product. Data may be blobs or
// inline; equal data in either form are equal work. O(length of the manifest).
[[nodiscard]] Hash work_of(const manifest::Manifest& manifest);

// SHA-256 of the manifest as it is stored, with all data as blobs. A quote names a manifest by this
// hash.
[[nodiscard]] Hash stored_hash(const manifest::Manifest& manifest);

}  // namespace weft::jobs
