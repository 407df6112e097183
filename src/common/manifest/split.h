// Cuts a job into tasks and a task into pieces, and joins the parts again. See docs/manifest.md,
// "Split".
//
// A Range is a run of whole workgroups along the split axis (rows of C for a kernel, items for an
// onnx job). Tasks, the pieces that keep one dispatch short, the canary and the sub-range of an
// audit are all ranges, and run in the same way.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/base/bytes.h"
#include "common/manifest/manifest.h"

namespace weft::manifest {

struct Range {
  std::uint32_t first = 0;  // The first workgroup along the axis.
  std::uint32_t count = 0;
  friend bool operator==(const Range&, const Range&) = default;
};

// The length of the split axis in workgroups; m for a kernel, the number of items for an onnx job.
[[nodiscard]] std::uint32_t axis_length(const Manifest& manifest);

// The range of task `index`. The axis is cut into as many runs as there are tasks; the first ones
// take the remainder.
[[nodiscard]] Range task_range(const Manifest& manifest, std::uint32_t index);

// Cuts `range` into pieces of at most `count_max` workgroups. Returns one piece if the job cannot
// be cut (can_cut).
[[nodiscard]] std::vector<Range> pieces(const Manifest& manifest, Range range,
                                        std::uint32_t count_max);

// True if running a sub-range gives the matching part of every output, because each has a
// split_dim.
[[nodiscard]] bool can_cut(const Manifest& manifest);

// The bytes [offset, offset + size) of output `output` (index among the outputs) that `range`
// computes; the whole output if the output is not cut.
struct Extent {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};
[[nodiscard]] Extent output_extent(const Manifest& manifest, std::size_t output, Range range);

// Joins the outputs of all tasks, in order, into the outputs of the job. Indices:
// parts[task][output].
[[nodiscard]] std::vector<ByteVector> join(const Manifest& manifest,
                                           std::span<const std::vector<ByteVector>> parts);

}  // namespace weft::manifest
