// What running a range takes of a device, held against the device's limits and the worker's bounds.
// Internal to this folder.
#pragma once

#include <cstdint>

#include "engine/exec/executor.h"

namespace weft::exec {

// The bytes of each binding (of a kernel: a, b, c) for `range`: cut outputs by their part, the rest
// whole.
struct Footprint {
  std::vector<std::uint64_t> binding_bytes;
  std::uint64_t bytes = 0;  // On the device in all, read-back included.
};
[[nodiscard]] Footprint footprint(const Job& job, manifest::Range range);

// The workgroups along the split axis that one dispatch may have: the caller's wish, but never over
// the device's limit. For a kernel rows, whole tiles of them; 0: all.
[[nodiscard]] std::uint32_t piece_workgroups(const Job& job, const gpu::Device& device,
                                             std::uint32_t wish);

// What needs no device: the range lies within the job, and the data that it must bring is there in
// the size of its shape.
[[nodiscard]] Result<> check_job(const Job& job, manifest::Range range);

}  // namespace weft::exec
