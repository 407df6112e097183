// Computes the resources that a range of a job needs and checks them against the device's limits
// and the worker's bounds. Internal to this folder.
#pragma once

#include <cstdint>

#include "engine/exec/executor.h"

namespace weft::exec {

// The bytes that `range` needs: one size for each binding (of a kernel: a, b and c). Of an output
// that is cut, only the part of the range counts; every other binding counts whole.
struct Footprint {
  std::vector<std::uint64_t> binding_bytes;
  std::uint64_t bytes = 0;  // The number of bytes on the device, readback included.
};
[[nodiscard]] Footprint footprint(const Job& job, manifest::Range range);

// Returns the number of workgroups along the split axis that one dispatch may have: `wish`, limited
// by the device (0 takes the device's limit). For a kernel it returns a number of rows: `wish`
// rounded up to whole tiles, and 0 for all rows.
[[nodiscard]] std::uint32_t piece_workgroups(const Job& job, const gpu::Device& device,
                                             std::uint32_t wish);

// The checks that need no device: the range must lie within the job, and all data that the job must
// bring must be present in the size of its shape.
[[nodiscard]] Result<> check_job(const Job& job, manifest::Range range);

}  // namespace weft::exec
