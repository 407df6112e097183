// How a job is cut into tasks, a task into pieces, and the parts joined again. docs/manifest.md,
// "Split".
//
// A Range is a run of whole workgroups along the split axis (rows of C for a kernel, items for an
// onnx job). Tasks, the
// pieces that keep one dispatch short, the canary and the sub-range of an audit are all ranges, and
// run the same way.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/base/bytes.h"
#include "common/manifest/manifest.h"

namespace weft::manifest {

struct Range {
  std::uint32_t first = 0;  // Workgroup along the axis.
  std::uint32_t count = 0;
  friend bool operator==(const Range&, const Range&) = default;
};

// Length of the split axis in workgroups; m for a kernel, items for an onnx job.
[[nodiscard]] std::uint32_t axis_length(const Manifest& manifest);

// The range of task `index`: n runs, the remainder going to the first ones.
[[nodiscard]] Range task_range(const Manifest& manifest, std::uint32_t index);

// Cuts `range` into pieces of at most `count_max` workgroups. One piece where the job cannot be cut
// (can_cut).
[[nodiscard]] std::vector<Range> pieces(const Manifest& manifest, Range range,
                                        std::uint32_t count_max);

// True when running a sub-range gives the matching part of every output: each has split_dim.
[[nodiscard]] bool can_cut(const Manifest& manifest);

// Bytes [offset, offset + size) of output `output` (index among the outputs) that `range` computes;
// the whole output where it is not cut.
struct Extent {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};
[[nodiscard]] Extent output_extent(const Manifest& manifest, std::size_t output, Range range);

// Joins the outputs of all tasks, in order, into those of the job. parts[task][output].
[[nodiscard]] std::vector<ByteVector> join(const Manifest& manifest,
                                           std::span<const std::vector<ByteVector>> parts);

}  // namespace weft::manifest
